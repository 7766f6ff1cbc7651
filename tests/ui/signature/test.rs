use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
#[test]
fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
