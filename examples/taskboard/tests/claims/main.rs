//! Who sees and does what, by claims: over HTTP, against a kernel with the sample's manifests.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod absence;
mod escape_hatch;
mod exposure;
mod facts;
mod loss;
mod office;
mod policies;
#[path = "../support/mod.rs"]
mod support;
