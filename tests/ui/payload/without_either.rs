use actum::{ActionError, action};

struct Ask {
    count: u8,
}

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_ask: Ask) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
