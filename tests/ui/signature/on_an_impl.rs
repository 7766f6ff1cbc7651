use actum::action;

struct Mail;

#[action(id = "mail.read", description = "Read the mail.")]
impl Mail {}

fn main() {}
