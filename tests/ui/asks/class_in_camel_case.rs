use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", class = ControlPlane)]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
