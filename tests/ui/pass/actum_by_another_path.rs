//! A crate that has `actum` only through another one.
use facade::framework::{ActionError, action};

mod facade {
    pub mod framework {
        pub use actum::*;
    }
}

#[action(crate = facade::framework, id = "mail.read", description = "Read.")]
async fn read(_: &facade::framework::Call) -> Result<(), ActionError> {
    Ok(())
}

fn main() {
    assert!(
        actum::Registry::linked()
            .unwrap()
            .catalog()
            .is_dispatchable("mail.read")
    );
}
