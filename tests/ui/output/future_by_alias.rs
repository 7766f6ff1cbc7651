use actum::{ActionError, action};

type Answer = std::pin::Pin<Box<dyn Future<Output = Result<(), ActionError>> + Send>>;

#[action(id = "mail.read", description = "Read the mail.")]
fn handler() -> Answer {
    Box::pin(std::future::ready(Ok(())))
}

fn main() {}
