use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", class = optional, requires("mail:read"; "mail:write"))]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
