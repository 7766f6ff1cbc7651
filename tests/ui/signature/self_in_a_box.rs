use actum::{ActionError, action};

struct Mail;

impl Mail {
    #[action(id = "mail.read", description = "Read the mail.")]
    async fn read(self: Box<Self>, _again: Box<Self>) -> Result<(), ActionError> {
        Ok(())
    }
}

fn main() {}
