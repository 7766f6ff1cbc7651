use actum::action;

#[action(id = "mail.read", description = "Read the mail.")]
struct Mail;

fn main() {}
