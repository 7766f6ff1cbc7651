use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_from: u8, _to: u8, _mail: &String, _words: String) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
