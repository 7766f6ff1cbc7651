use actum::action;

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler() -> Result<String> {
    Ok(String::new())
}

fn main() {}
