use actum::{ActionError, action};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Ask<'a> {
    text: &'a str,
}

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_ask: Ask<'_>) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
