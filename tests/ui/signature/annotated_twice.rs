use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
#[action(id = "mail.read_again", description = "Read the mail again.")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
