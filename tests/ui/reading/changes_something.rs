use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.", resource = "mail:today")]
async fn at_an_address() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.ask", description = "Ask about the mail.", prompt, destructive)]
async fn chosen() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
