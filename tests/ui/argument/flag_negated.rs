use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", !read_only)]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
