use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_mail: &impl ToString, _ask: Vec<impl ToString>) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
