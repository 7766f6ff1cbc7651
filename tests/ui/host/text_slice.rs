use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_mail: &str) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
