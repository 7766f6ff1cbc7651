use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
const HANDLER: fn() -> Result<(), ActionError> = || Ok(());

fn main() {}
