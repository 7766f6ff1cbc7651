use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", approval_required = true, read_only("yes"))]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
