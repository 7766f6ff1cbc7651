use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
unsafe extern "C" fn handler(_rest: ...) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
