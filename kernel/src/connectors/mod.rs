//! What the kernel reads from outside.

pub mod mailbox;
