use actum::{ActionError, action};

#[action(id = "mail.read:selected:latest", description = "Read the mail.")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
