use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_ask: dyn ToString) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
