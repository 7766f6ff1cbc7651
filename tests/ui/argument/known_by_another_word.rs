use actum::{ActionError, action};

#[action(name = "mail.read", desc = "Read the mail.")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
