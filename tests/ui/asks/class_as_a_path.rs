use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", class = actum::Class::Always)]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
