use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", colour = "red")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
