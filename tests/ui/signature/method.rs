use actum::{ActionError, action};

struct Mail;

impl Mail {
    #[action(id = "mail.read", description = "Read the mail.")]
    async fn read(&self) -> Result<(), ActionError> {
        Ok(())
    }
}

fn main() {}
