use actum::{ActionError, action};

struct Mailbox<'a>(&'a str);

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler<'a>(_mail: &Mailbox<'a>) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
