use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
extern "C" fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
