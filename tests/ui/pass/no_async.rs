use actum::{ActionError, action};

/// Documented, and generic over nothing.
#[must_use = "it is a result"]
#[action(id = "mail.now", description = "Now.")]
pub fn now() -> Result<u8, ActionError> {
    Ok(7)
}

fn main() {
    assert!(matches!(now(), Ok(7)));
    assert!(
        actum::Registry::linked()
            .unwrap()
            .catalog()
            .is_dispatchable("mail.now")
    );
}
