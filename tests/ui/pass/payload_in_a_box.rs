//! A payload behind a box, and one that is a map by intent.
use std::collections::BTreeMap;

use actum::{ActionError, action};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Ask {
    count: u8,
}

#[action(id = "mail.boxed", description = "Boxed.")]
async fn boxed(ask: Box<Ask>) -> Result<u8, ActionError> {
    Ok(ask.count)
}

#[action(id = "mail.map", description = "A map.")]
async fn map(labels: BTreeMap<String, u8>) -> Result<usize, ActionError> {
    Ok(labels.len())
}

fn main() {
    let catalog = actum::Registry::linked().unwrap().catalog();
    let schema = |id| &catalog.tool_descriptor_for(id).unwrap().parameters_schema;
    assert_eq!(schema("mail.boxed")["required"], serde_json::json!(["count"]));
    assert_eq!(schema("mail.map")["type"], "object");
    assert!(schema("mail.map")["additionalProperties"].is_object());
}
