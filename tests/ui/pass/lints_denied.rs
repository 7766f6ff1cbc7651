//! The expansion is clean under the lints that a careful caller denies.
#![deny(warnings, missing_docs, unreachable_pub, unused, unused_qualifications)]
#![deny(
    future_incompatible,
    nonstandard_style,
    rust_2018_idioms,
    let_underscore_drop
)]
#![deny(
    missing_debug_implementations,
    single_use_lifetimes,
    trivial_casts,
    unused_results
)]
#![forbid(unsafe_code)]

use actum::{ActionError, action};
use schemars::JsonSchema;
use serde::Deserialize;

/// What the model fills in.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Ask {
    /// How many.
    pub count: u8,
}

/// What is not used any more.
pub mod earlier {
    #![allow(deprecated)]

    /// An earlier form.
    #[deprecated]
    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    pub struct Old {}
}

#[action(id = "mail.read", description = "Read.")]
async fn read(mailbox: &String, ask: Ask) -> Result<u8, ActionError> {
    let _ = mailbox;
    Ok(ask.count)
}

/// Deprecated, and an action all the same.
#[deprecated]
#[action(id = "mail.old", description = "Old.")]
#[expect(deprecated)]
pub fn old(_: earlier::Old) -> Result<(), ActionError> {
    Ok(())
}

fn main() {
    assert_eq!(actum::Registry::linked().unwrap().actions().count(), 2);
}
