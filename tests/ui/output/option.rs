use actum::action;

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler() -> Option<String> {
    None
}

fn main() {}
