use actum::{ActionError, action};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Ask {}

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_ask: &mut Ask) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
