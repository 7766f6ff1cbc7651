use actum::{ActionError, action};

#[action(id = ID, description = "Read the mail.")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
