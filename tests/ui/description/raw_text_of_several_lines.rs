use actum::{ActionError, action};

#[action(id = "mail.read", description = r#"
    Read the mail.
    All of it.
"#)]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
