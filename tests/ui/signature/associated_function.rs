use actum::{ActionError, action};

struct Mail;

impl Mail {
    #[action(id = "mail.read", description = "Read the mail.")]
    async fn read_mail() -> Result<(), ActionError> {
        Ok(())
    }
}

fn main() {}
