use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", title = "Mail\u{200b}")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
