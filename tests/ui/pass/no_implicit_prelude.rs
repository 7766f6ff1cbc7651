#![no_implicit_prelude]

// The derive of `JsonSchema` wants the first two; the action wants nothing.
use ::schemars;
use ::std::convert::Into;
use ::std::prelude::v1::{Ok, derive};

#[derive(::serde::Deserialize, ::schemars::JsonSchema)]
struct Ask {
    count: u8,
}

#[::actum::action(
    id = "mail.read",
    description = "Read.",
    title = "Read",
    egress(channels = ["owner"], class = "mail"),
)]
async fn read(_: &::actum::Call, ask: Ask) -> ::std::result::Result<u8, ::actum::ActionError> {
    Ok(ask.count)
}

fn main() {
    let registry = ::actum::Registry::linked();
    ::std::assert!(
        ::std::matches!(registry, Ok(registry) if registry.catalog().is_dispatchable("mail.read"))
    );
}
