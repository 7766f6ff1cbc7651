use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_mail: &(dyn ToString + Send + Sync)) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
