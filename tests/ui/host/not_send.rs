use actum::{ActionError, action};

struct Mailbox(std::sync::MutexGuard<'static, u8>);

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_mail: &Mailbox) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
