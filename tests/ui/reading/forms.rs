use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", read_only, resource, prompt = "mail")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.find", description = "Find mail.", read_only, uri = "mail:{words}")]
async fn another() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
