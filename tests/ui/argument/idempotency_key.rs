//! The argument says that a key is required; the key itself comes with the call.
use actum::action;

#[action(id = "post.send", description = "Send a letter.", idempotency_key)]
async fn send() -> Result<(), actum::ActionError> {
    Ok(())
}

fn main() {}
