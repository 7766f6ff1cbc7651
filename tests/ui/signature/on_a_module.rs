use actum::action;

#[action(id = "mail.read", description = "Read the mail.")]
mod mail {
    async fn handler() -> Result<(), actum::ActionError> {
        Ok(())
    }
}

fn main() {}
