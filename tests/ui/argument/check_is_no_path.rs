use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", check = "plausible")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
