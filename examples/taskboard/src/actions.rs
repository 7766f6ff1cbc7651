//! The 37 agent tools: annotated handlers, and nothing else.
//!
//! A handler that reads takes a [`Work`](crate::Work) by `look`, one that changes something by
//! `begin`, and ends that one with `done`, which keeps the result for `inspect_operation_result`.
//!
//! Some fields may be left out and not be `null`: they have a default, and an empty text means none.

pub mod cases;
pub mod company;
pub mod delegation;
pub mod discovery;
pub mod documents;
pub mod governance;
pub mod routines;
pub mod secrets;
pub mod skills;
pub mod task;
pub mod workspace;

// The control plane's own: they exist, and no agent can call them.
actum::control_plane!("checkout_task");
actum::control_plane!("release_task");
actum::control_plane!("select_work");
actum::control_plane!("route_wake");
actum::control_plane!("enforce_budget");
actum::control_plane!("append_audit_record");
actum::control_plane!("persist_run");
actum::control_plane!("replay_run");
actum::control_plane!("schedule_blocker_wake");
actum::control_plane!("reconcile_run");

#[cfg(test)]
actum::testing::check_actions!();
