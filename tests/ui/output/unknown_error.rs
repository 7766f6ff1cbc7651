use actum::action;

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
