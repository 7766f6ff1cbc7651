//! What whole-project checks share.

pub mod claims;
