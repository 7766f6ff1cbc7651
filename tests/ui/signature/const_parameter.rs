use actum::{ActionError, action};

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler<const N: usize>(_mail: &[u8; N]) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
