use actum::action;

struct Lost;

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler() -> Result<(), Lost> {
    Err(Lost)
}

fn main() {}
