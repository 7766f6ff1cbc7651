use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler() -> Result<impl ToString, ActionError> {
    Ok("")
}

fn main() {}
