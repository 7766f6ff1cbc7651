use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", modes("test"), escape_hatch("method", "path"))]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
