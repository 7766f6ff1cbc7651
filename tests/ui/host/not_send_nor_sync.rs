use actum::{ActionError, action};

struct Mailbox {
    open: std::rc::Rc<()>,
}

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(_mail: &Mailbox) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
