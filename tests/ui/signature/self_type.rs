use actum::{ActionError, action};

struct Mail;

impl Mail {
    #[action(id = "mail.read", description = "Read the mail.")]
    async fn read() -> Result<Self, ActionError> {
        Err(ActionError::failed("no mail"))
    }
}

fn main() {}
