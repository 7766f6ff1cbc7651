use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", selection_token)]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
