//! Laws of authority by claims, for any catalog, actor, scenario, policy and lists.
//!
//! The worlds are drawn from a few ids, claims, roles, modes, targets and kinds of interaction, so that
//! what is required and what is held meet often. In each world, [`call::calls`] are all the calls of an
//! action that differ in anything that the gate could ask about.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says where it fails"
)]

#[path = "claims_laws/call.rs"]
mod call;
#[path = "claims_laws/composed.rs"]
mod composed;
#[path = "claims_laws/examples.rs"]
mod examples;
#[path = "claims_laws/listed.rs"]
mod listed;
#[path = "claims_laws/narrower.rs"]
mod narrower;
#[path = "claims_laws/recorded.rs"]
mod recorded;
mod support;
#[path = "claims_laws/world.rs"]
mod world;

use proptest::prelude::ProptestConfig;

/// How each law is tried.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 128,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
