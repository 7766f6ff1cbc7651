use actum::{ActionError, action};

#[action(ID = "mail.read", Description = "Read the mail.")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
