use actum::{ActionError, action};

type Names = Vec<String>;

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_ask: Names) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
