//! Lineages in the store: a task with all that descend from it.
//!
//! A task that another one commissioned names it as its parent. INVARIANT: a task that is not over has no parent that
//! is: whatever ends a task takes back all below it, in the same transaction, and a task is stored only while its
//! parent is not over. So whether a task is over stands in its own row.
//!
//! What a lineage has used of its limits is counted in each of its rows, for the task and all below it. A call counts
//! for its task and every task above, in the transaction that stores it, or is not stored.

mod tables;

use actum::redact::Confidential;
use serde_json::{Value, json};
use sqlx::FromRow;
use ulid::Ulid;

use super::StoreError;
use super::rows::unreadable;
use crate::ledger::{Entry, Kind};
pub(super) use tables::Tables;

/// What a call takes of the limits of its lineage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// One call.
    Call,
    /// One call, and one artifact.
    Artifact,
}

impl Takes {
    /// How many calls.
    const fn calls(self) -> i64 {
        match self {
            Self::Nothing => 0,
            Self::Call | Self::Artifact => 1,
        }
    }

    /// How many artifacts.
    const fn artifacts(self) -> i64 {
        match self {
            Self::Nothing | Self::Call => 0,
            Self::Artifact => 1,
        }
    }
}

/// How a task ended, by its worker's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskOutcome {
    /// It did what it was for.
    Succeeded,
    /// It did not.
    Failed,
}

impl TaskOutcome {
    /// The outcome as it is stored and told.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }

    fn of(word: &str) -> Option<Self> {
        [Self::Succeeded, Self::Failed]
            .into_iter()
            .find(|outcome| outcome.as_str() == word)
    }
}

/// The end of a task, to be stored.
#[derive(Debug, Clone)]
pub struct NewReport {
    /// The task.
    pub task: Ulid,
    /// How it ended.
    pub outcome: TaskOutcome,
    /// What its worker says of it.
    pub report: Confidential,
    /// The message to the owner's device, and whose task it is.
    pub message: (String, String),
    /// Its record.
    pub entry: Entry,
}

impl NewReport {
    /// The report as it is stored: JSON, in its redacted form.
    fn json(&self) -> Result<String, StoreError> {
        serde_json::to_string(&self.report).map_err(unreadable)
    }
}

/// How a task ended, as it is stored.
#[derive(Debug, Clone)]
pub struct TaskEnd {
    /// When, RFC 3339 UTC.
    pub at: String,
    /// How.
    pub outcome: TaskOutcome,
    /// What its worker said of it: untrusted.
    pub report: Value,
}

/// A task that another one commissioned.
#[derive(Debug, Clone)]
pub struct CommissionedTask {
    /// Its id.
    pub id: Ulid,
    /// What it is for, in the words of the worker that commissioned it.
    pub purpose: String,
    /// When its grant is over, RFC 3339 UTC.
    pub expires_at: String,
    /// When it was taken back.
    pub revoked_at: Option<String>,
    /// How it ended, if its worker said so.
    pub end: Option<TaskEnd>,
}

/// The row of a [`TaskEnd`], of whatever table it is joined from.
#[derive(Debug, FromRow)]
pub(super) struct EndRow {
    ended_at: Option<String>,
    outcome: Option<String>,
    report: Option<String>,
}

impl EndRow {
    pub(super) fn read(self) -> Result<Option<TaskEnd>, StoreError> {
        let (Some(at), Some(outcome), Some(report)) = (self.ended_at, self.outcome, self.report)
        else {
            return Ok(None);
        };
        let outcome = TaskOutcome::of(&outcome)
            .ok_or_else(|| unreadable(format!("no outcome of a task: {outcome:?}")))?;
        let report = serde_json::from_str(&report).map_err(unreadable)?;
        Ok(Some(TaskEnd {
            at,
            outcome,
            report,
        }))
    }
}

/// The row of a [`CommissionedTask`].
#[derive(Debug, FromRow)]
struct CommissionedRow {
    id: String,
    grant_body: String,
    expires_at: String,
    revoked_at: Option<String>,
    #[sqlx(flatten)]
    end: EndRow,
}

impl TryFrom<CommissionedRow> for CommissionedTask {
    type Error = StoreError;

    fn try_from(row: CommissionedRow) -> Result<Self, StoreError> {
        let grant: actum::SealedGrant =
            serde_json::from_str(&row.grant_body).map_err(unreadable)?;
        Ok(Self {
            id: Ulid::from_string(&row.id).map_err(unreadable)?,
            purpose: grant.purpose_as_issued().to_owned(),
            expires_at: row.expires_at,
            revoked_at: row.revoked_at,
            end: row.end.read()?,
        })
    }
}

/// The records of the tasks that were taken back with a task that is over by this entry.
pub(super) fn records(entry: &Entry, over: Ulid, taken: &[Ulid]) -> Vec<Entry> {
    let with_it = |task: &Ulid| Entry {
        at: entry.at,
        kind: Kind::GrantRevoked,
        body: json!({"task": task, "with": over}),
    };
    let record = |task: &Ulid| match *task == over {
        true => entry.clone(),
        false => with_it(task),
    };
    taken.iter().map(record).collect()
}

/// A statement about the task `$1` and all tasks that it descends from, which are `above`.
macro_rules! with_above {
    ($statement:literal) => {
        concat!(
            "WITH RECURSIVE above (id, parent_id) AS (
                 SELECT id, parent_id FROM tasks WHERE id = $1
                 UNION ALL
                 SELECT t.id, t.parent_id FROM tasks t JOIN above a ON t.id = a.parent_id
             ) ",
            $statement
        )
    };
}

/// Those of `above` that have no room for `$2` more calls and `$3` more artifacts.
const WITHOUT_ROOM: &str = with_above!(
    "SELECT t.id FROM tasks t JOIN above a ON t.id = a.id
     WHERE t.calls + $2 > t.max_calls OR t.artifacts + $3 > t.max_artifacts"
);

/// Counts `$2` more calls and `$3` more artifacts for each of `above`.
const COUNT: &str = with_above!(
    "UPDATE tasks SET calls = calls + $2, artifacts = artifacts + $3
     WHERE id IN (SELECT id FROM above)"
);

/// The unspent selection token `$2`, if it is of `above`: which of them may spend it is for their grants to say.
pub(super) const SELECTION: &str = with_above!(
    "SELECT type, target, expires_at FROM selection_tokens
     WHERE id = $2 AND spent_by IS NULL AND task_id IN (SELECT id FROM above)"
);

/// Spends the selection token `$2` of `above` for the call `$3`, or takes it over from the call `$4`.
const SPEND: &str = with_above!(
    "UPDATE selection_tokens SET spent_by = $3
     WHERE id = $2 AND (spent_by IS NULL OR spent_by = $4) AND task_id IN (SELECT id FROM above)"
);

/// The task `$1` and all that descend from it, as far as they are not over, in the order of their ids.
const BELOW: &str = "WITH RECURSIVE below (id) AS (
         SELECT id FROM tasks WHERE id = $1
         UNION ALL
         SELECT t.id FROM tasks t JOIN below b ON t.parent_id = b.id
     )
     SELECT id FROM tasks
     WHERE id IN (SELECT id FROM below) AND revoked_at IS NULL AND ended_at IS NULL
     ORDER BY id";

/// Takes the task `$1` back at `$2`.
const TAKE_BACK: &str = "UPDATE tasks SET revoked_at = $2 WHERE id = $1";

/// Ends the task `$1` at `$2` with the outcome `$3` and the report `$4`, if it is not over.
const END: &str = "UPDATE tasks SET ended_at = $2, outcome = $3, report = $4
     WHERE id = $1 AND revoked_at IS NULL AND ended_at IS NULL";

/// Whether the task `$1` is not over.
pub(super) const IS_LIVE: &str =
    "SELECT 1 FROM tasks WHERE id = $1 AND revoked_at IS NULL AND ended_at IS NULL";

/// The same, and how often the active artifacts changed, in one round trip.
pub(super) const CHANGES_IF_LIVE: &str = "SELECT (SELECT changes FROM artifact_changes) FROM tasks
     WHERE id = $1 AND revoked_at IS NULL AND ended_at IS NULL";

/// The newest `$2` tasks that the task `$1` commissioned, the oldest first.
const COMMISSIONED: &str = "SELECT * FROM (
         SELECT id, grant_body, expires_at, revoked_at, ended_at, outcome, report
         FROM tasks WHERE parent_id = $1 ORDER BY id DESC LIMIT $2
     ) newest ORDER BY id";
