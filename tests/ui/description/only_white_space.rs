use actum::{ActionError, action};

#[action(id = "mail.read", description = "  ")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
