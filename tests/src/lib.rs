//! What whole-project checks share.

pub mod claims;

/// Every Rust snippet of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
