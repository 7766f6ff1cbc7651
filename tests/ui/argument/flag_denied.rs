use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", approval_required = false)]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
