use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn read() -> Result<(), ActionError> {
    let mail = ;
    Ok(())
}

// The function is there all the same.
async fn read_again() -> Result<(), ActionError> {
    read().await
}

fn main() {}
