use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", modes("test"), escape_hatch(method = "request", path = "request"))]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
