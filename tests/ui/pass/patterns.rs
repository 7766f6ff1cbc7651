//! A parameter is any pattern that a function can take.
#![allow(unused_parens)]

use actum::{ActionError, Call, action};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Ask {
    count: u8,
}

#[action(id = "mail.taken_apart", description = "Taken apart.")]
async fn taken_apart(Ask { count }: Ask) -> Result<u8, ActionError> {
    Ok(count)
}

#[action(id = "mail.changed", description = "Changed.")]
async fn changed(mut ask: Ask) -> Result<u8, ActionError> {
    ask.count = ask.count.saturating_add(1);
    Ok(ask.count)
}

#[action(id = "mail.ignored", description = "Ignored.")]
async fn ignored(_: Ask, _: &Call) -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.bound", description = "Bound.")]
async fn bound(whole @ Ask { .. }: Ask, &start: &u8) -> Result<u8, ActionError> {
    Ok(start.saturating_add(whole.count))
}

#[action(id = "mail.bracketed", description = "Bracketed.")]
async fn bracketed((ask): (Ask), (start): (&u8)) -> Result<u8, ActionError> {
    Ok(start.saturating_add(ask.count))
}

fn main() {
    let catalog = actum::Registry::linked().unwrap().catalog();
    let ids = ["mail.bound", "mail.bracketed", "mail.changed", "mail.ignored", "mail.taken_apart"];
    for id in ids {
        let schema = &catalog.tool_descriptor_for(id).unwrap().parameters_schema;
        assert_eq!(schema["required"], serde_json::json!(["count"]), "{id}");
    }
}
