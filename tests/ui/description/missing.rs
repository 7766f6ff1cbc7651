use actum::{ActionError, action};

#[action(id = "mail.read")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
