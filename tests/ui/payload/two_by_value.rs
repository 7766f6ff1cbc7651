use actum::{ActionError, action};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Ask {
    count: u8,
}

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_ask: Ask, _count: u8) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
