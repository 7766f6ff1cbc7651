use actum::{ActionError, action};

#[action(id = "mail.read", description = concat!("Read ", "the mail."))]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
