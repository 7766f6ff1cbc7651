use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", escape_hatch(method = "method", path = "path"))]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
