use actum::{ActionError, action};
use serde::Serialize;

#[derive(Serialize)]
struct Mail {
    text: String,
}

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler() -> Result<Mail, ActionError> {
    Err(ActionError::failed("no mail"))
}

fn main() {}
