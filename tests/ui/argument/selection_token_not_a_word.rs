use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", selection_token = "Email Thread")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
