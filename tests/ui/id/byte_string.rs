use actum::{ActionError, action};

#[action(id = b"mail.read", description = "Read the mail.")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
