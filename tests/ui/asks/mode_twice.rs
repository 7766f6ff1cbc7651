use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", modes("test", "test"))]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
