//! Importing, renaming and re-exporting a handler changes nothing of its action.

mod outer {
    pub mod inner {
        use actum::{ActionError, action as declares};

        #[declares(id = "mail.read", description = "Read.")]
        pub async fn read() -> Result<(), ActionError> {
            Ok(())
        }

        #[actum::action(id = "mail.send", description = "Send.")]
        pub(in crate::outer) async fn send() -> std::result::Result<(), actum::ActionError> {
            Ok(())
        }
    }

    pub use inner::read as again;

    pub fn is_callable() {
        drop(inner::send());
    }
}

use outer::again as once_more;

fn main() {
    drop(once_more());
    outer::is_callable();
    let registry = actum::Registry::linked().unwrap();
    let ids: Vec<_> = registry.actions().map(|(id, _)| id.to_string()).collect();
    assert_eq!(ids, ["mail.read", "mail.send"]);
}
