use actum::{ActionError, action};

#[action]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
