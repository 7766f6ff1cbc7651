use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", redact(token = "[REDACTED]"))]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
