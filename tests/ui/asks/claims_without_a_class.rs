use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", requires("mail:read"))]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
