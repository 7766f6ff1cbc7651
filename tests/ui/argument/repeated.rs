use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", approval_required, id = "mail.send", approval_required)]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
