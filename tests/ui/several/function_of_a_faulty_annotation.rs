use actum::{ActionError, action};

#[action(id = "mail.read", read_olny)]
async fn read() -> Result<u8, ActionError> {
    let count: u8 = "text";
    Ok(count)
}

// The function is there all the same, and so is its body.
async fn read_again() -> Result<u8, ActionError> {
    read().await
}

fn main() {
    drop(read_again());
}
