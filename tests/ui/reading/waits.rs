use actum::{ActionError, action};

#[action(
    id = "mail.read",
    description = "Read the mail.",
    read_only,
    approval_required,
    selection_token = "mail_selection",
    resource = "mail:today",
    prompt,
)]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
