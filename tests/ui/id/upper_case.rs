use actum::{ActionError, action};

#[action(id = "Mail.Read", description = "Read the mail.")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
