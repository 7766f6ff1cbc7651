use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then Read the mail, and then stop.")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
