use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.\nThen say what is in it.")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
