//! A task board for agents: 37 annotated actions over a real SQLite domain.
//!
//! It shows that a big catalog stays pleasant to write. [`store`] is the domain: plain functions that
//! know nothing of actions. [`actions`] are the handlers: a payload, and a few lines that hand over
//! to the domain. Each is declared by its annotation and nowhere else. [`api`] is what the way around
//! all of it reaches.
//!
//! An agent never says who it is or which task it is at; both come with the call, from the host
//! ([`TaskBoard`] says how).

pub mod actions;
pub mod api;
pub mod store;

pub use api::CompanyApi;
pub use store::{BoardError, TaskBoard, Work};
