use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_count: u32) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
