use actum::action;

/// Mail.
#[action(id = "mail.read", description = "Read the mail.")]
#[derive(Debug)]
pub struct Mail {
    read: fn(),
}

fn main() {}
