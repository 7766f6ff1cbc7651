use actum::{ActionError, action};

use serde_json::Value as Any;

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_ask: Any) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
