use actum::{ActionError, action};

#[action(id = "mail.read"; description = "Read the mail."; read_only; title = "Mail")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
