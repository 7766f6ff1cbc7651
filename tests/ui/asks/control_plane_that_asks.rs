use actum::{ActionError, action};

#[action(
    id = "mail.read",
    description = "Read the mail.",
    class = control_plane,
    requires("mail:read"),
    roles("approver"),
    modes("test"),
    reads_secrets,
    escape_hatch(method = "method", path = "path"),
    interaction = "kind",
    approval_required,
    selection_token = "thread",
    non_delegable,
)]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
