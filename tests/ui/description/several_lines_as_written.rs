use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.
Then say what is in it.")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
