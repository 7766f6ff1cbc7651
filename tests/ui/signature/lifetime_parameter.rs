use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler<'a>(_mail: &'a String) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
