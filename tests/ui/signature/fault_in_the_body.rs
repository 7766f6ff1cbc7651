use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler() -> Result<(), ActionError> {
    let mail: u8 = "text";
    Ok(())
}

fn main() {}
