use actum::{ActionError, action};

#[action(id = " mail.read thread", description = "Read the mail.")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
