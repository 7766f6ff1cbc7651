//! Small programs on top of Actum; each is a binary of its own under `src/bin`.

/// Every Rust snippet of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
