use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_ask: Box<dyn ToString + Send>) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
