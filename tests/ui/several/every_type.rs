use actum::action;

struct Ask;

struct Mailbox(std::rc::Rc<()>);

struct Mail;

struct Lost;

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_mailbox: &Mailbox, _ask: Ask) -> Result<Mail, Lost> {
    Err(Lost)
}

fn main() {}
