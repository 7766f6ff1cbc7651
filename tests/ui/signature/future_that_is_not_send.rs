use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler() -> Result<(), ActionError> {
    let mail = std::rc::Rc::new(());
    std::future::ready(()).await;
    drop(mail);
    Ok(())
}

fn main() {}
