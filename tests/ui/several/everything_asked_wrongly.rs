use actum::{ActionError, action};

#[action(
    id = "mail.read",
    description = "Read the mail.",
    class = "optional",
    requires("", "mail:read ", "a", "a", read),
    roles = "approver",
    modes(),
    reads_secrets = true,
    escape_hatch(metod = "method", path = ""),
    interaction,
    redact("token" = "", "$.key"),
    scopes("mail:read"),
)]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
