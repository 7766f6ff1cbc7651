use actum::{ActionError, action};

#[action(id = ":selected", description = "Read the mail.")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
