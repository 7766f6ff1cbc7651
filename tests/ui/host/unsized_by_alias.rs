use actum::{ActionError, action};

type Text = str;

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_mail: &Text) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
