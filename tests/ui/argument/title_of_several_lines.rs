use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", title = "The\nmail")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
