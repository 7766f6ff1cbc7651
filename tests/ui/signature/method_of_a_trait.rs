use actum::{ActionError, action};

trait Mail {
    #[action(id = "mail.read", description = "Read the mail.")]
    fn read() -> Result<(), ActionError>;
}

fn main() {}
