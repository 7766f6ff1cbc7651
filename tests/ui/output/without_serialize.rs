use actum::{ActionError, action};
use schemars::JsonSchema;

#[derive(JsonSchema)]
struct Mail {
    text: String,
}

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler() -> Result<Mail, ActionError> {
    Err(ActionError::failed("no mail"))
}

fn main() {}
