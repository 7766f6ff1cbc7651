use actum::action;

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler() -> () {}

fn main() {}
