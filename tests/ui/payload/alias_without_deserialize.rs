use actum::{ActionError, action};
use schemars::JsonSchema;

#[derive(JsonSchema)]
struct Ask {
    count: u8,
}

type Question = Ask;

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_ask: Question) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
