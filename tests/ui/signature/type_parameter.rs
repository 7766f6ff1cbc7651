use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler<T>(_mail: &Vec<T>) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
