//! `openspine.status.read`

use std::sync::Arc;

use actum::{ActionError, action};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::store::Store;

/// What the status is read from.
#[derive(Debug)]
pub struct Running {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) since: Timestamp,
    pub(crate) clock: crate::Clock,
}

/// The kernel's status.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Status {
    /// The kernel's version.
    pub version: String,
    /// Seconds since the kernel started.
    pub uptime_seconds: i64,
    /// The kind of store.
    pub store: String,
    /// Tasks issued so far.
    pub tasks: i64,
    /// Calls started or waiting so far.
    pub calls: i64,
    /// Records in the ledger.
    pub ledger_records: i64,
}

/// Reads the kernel's status. Changes nothing.
#[action(
    id = "openspine.status.read",
    title = "Kernel status",
    description = "Read the kernel's version, uptime, store and counts of tasks, calls and ledger records.",
    read_only,
    idempotent,
    resource = "openspine:status"
)]
pub async fn read(running: &Running) -> Result<Status, ActionError> {
    let counts = running.store.counts().await?;
    Ok(Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        uptime_seconds: running.clock.now().duration_since(running.since).as_secs(),
        store: running.store.kind().to_owned(),
        tasks: counts.tasks,
        calls: counts.calls,
        ledger_records: counts.records,
    })
}
