use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", class = "always")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
