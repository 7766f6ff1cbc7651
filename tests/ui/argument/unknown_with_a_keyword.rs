use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", type = "text")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
