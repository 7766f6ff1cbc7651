use actum::{ActionError, action};
use serde::Serialize;

#[derive(Serialize)]
struct Mail;

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler() -> Result<Vec<Mail>, ActionError> {
    Ok(vec![])
}

fn main() {}
