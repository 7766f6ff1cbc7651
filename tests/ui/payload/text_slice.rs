use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_ask: Option<&str>) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
