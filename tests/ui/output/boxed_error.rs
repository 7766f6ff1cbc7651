use actum::action;

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    Ok(())
}

fn main() {}
