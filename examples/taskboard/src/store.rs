//! The domain: one company's tasks, documents, approvals and the rest, in one SQLite file.
//!
//! Everything happens in a [`Work`]: one transaction, in one actor's name. The functions of the
//! modules here take it and know nothing of actions, grants or models.

mod error;
mod open;
mod payload;
mod work;

pub mod approval;
pub mod case;
pub mod company;
pub mod deliverable;
pub mod dependency;
pub mod document;
pub mod history;
pub mod human_input;
pub mod operation;
pub mod routine;
pub mod secret;
pub mod skill;
pub mod task;
pub mod workspace;

pub use error::BoardError;
pub use open::TaskBoard;
pub use payload::Payload;
pub use work::Work;

/// The most that any list gives.
pub const MOST: i64 = 500;
