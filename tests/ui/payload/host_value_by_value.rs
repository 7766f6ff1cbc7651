use actum::{ActionError, action};

struct Mailbox;

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_mail: std::sync::Arc<Mailbox>) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
