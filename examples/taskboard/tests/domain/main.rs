//! What the board refuses, and what it keeps. Handlers are ordinary functions: they are called here
//! as such.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod company;
mod documents;
mod file;
#[path = "../support/mod.rs"]
mod support;
mod tasks;
