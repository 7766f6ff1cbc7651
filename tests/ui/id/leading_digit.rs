use actum::{ActionError, action};

#[action(id = "mail.2read", description = "Read the mail.")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
