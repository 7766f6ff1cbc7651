use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
fn handler() -> Result<(), ActionError> {
    std::future::ready(()).await;
    Ok(())
}

fn main() {}
