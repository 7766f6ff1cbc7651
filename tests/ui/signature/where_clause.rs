use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler() -> Result<(), ActionError>
where
    String: Clone,
{
    Ok(())
}

fn main() {}
