use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
const fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
