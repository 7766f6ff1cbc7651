use actum::{ActionError, action};

#[action(id = "Mail.Read", description = "Read the mail.")]
async fn read() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.send")]
async fn send() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
