use actum::{ActionError, action};
use schemars::JsonSchema;
use serde::Deserialize;

fn outer() {
    #[derive(Deserialize, JsonSchema)]
    struct Ask {
        count: u8,
    }

    #[action(id = "mail.inner", description = "Inner.")]
    async fn inner(ask: Ask) -> Result<u8, ActionError> {
        Ok(ask.count)
    }
}

fn main() {
    outer();
    assert!(
        actum::Registry::linked()
            .unwrap()
            .catalog()
            .is_dispatchable("mail.inner")
    );
}
