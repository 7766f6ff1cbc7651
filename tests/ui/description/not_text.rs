use actum::{ActionError, action};

#[action(id = "mail.read", description = 7)]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
