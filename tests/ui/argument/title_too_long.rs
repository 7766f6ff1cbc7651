use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", title = "Mail Mail Mail Mail Mail Mail Mail Mail Mail Mail Mail Mail Mail Mail Mail Mail Mail Mail Mail Mail Mail Mail Mail Mail Mail Mail .")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
