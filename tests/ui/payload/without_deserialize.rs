use actum::{ActionError, action};
use schemars::JsonSchema;

#[derive(JsonSchema)]
struct Ask {
    count: u8,
}

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_ask: Ask) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
