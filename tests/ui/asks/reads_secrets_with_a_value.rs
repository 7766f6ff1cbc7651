use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", reads_secrets = false)]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
