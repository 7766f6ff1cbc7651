use actum::{ActionError, action};

#[action(id = concat!("mail", ".read"), description = "Read the mail.", title = TITLE, selection_token = 5)]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
