use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler() -> Result<Missing, ActionError> {
    Ok(Missing)
}

fn main() {}
