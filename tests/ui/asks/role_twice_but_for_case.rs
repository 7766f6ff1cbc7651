use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", roles("approver", "Approver"))]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
