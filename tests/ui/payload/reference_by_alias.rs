use actum::{ActionError, action};

struct Ask {
    count: u8,
}

type Mail = &'static Ask;

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_ask: Mail) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
