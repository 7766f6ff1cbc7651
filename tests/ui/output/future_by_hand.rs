use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
fn handler() -> impl Future<Output = Result<(), ActionError>> {
    std::future::ready(Ok(()))
}

fn main() {}
