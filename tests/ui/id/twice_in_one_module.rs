use actum::{ActionError, action};

#[action(id = "mail.read:selected", description = "Read the mail.")]
async fn read() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.read:selected", description = "Read the mail again.")]
async fn read_again() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
