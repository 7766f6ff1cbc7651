use actum::{ActionError, action};

struct Ask;

struct Mail;

#[action(id = "Mail.Read", read_only, destructive)]
async fn handler(_ask: Ask) -> Result<Mail, ActionError> {
    Ok(Mail)
}

fn main() {}
