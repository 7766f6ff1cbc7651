use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_ask: Missing) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
