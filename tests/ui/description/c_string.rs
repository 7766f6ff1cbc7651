use actum::{ActionError, action};

#[action(id = "mail.read", description = c"Read the mail.")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
