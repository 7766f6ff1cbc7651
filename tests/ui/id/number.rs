use actum::{ActionError, action};

#[action(id = 7, description = "Read the mail.")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
