//! What the kernel reads from outside, and what it writes there.

pub mod drafts;
pub mod mailbox;
