use actum::{ActionError, action};
use schemars::JsonSchema;

#[derive(JsonSchema)]
struct Mail {
    text: String,
}

type Answer = Result<Mail, ActionError>;

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler() -> Answer {
    Err(ActionError::failed("no mail"))
}

fn main() {}
