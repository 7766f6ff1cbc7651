//! What happened at a task. It only grows; the database itself sees to that.

use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::{FromRow, Type};

use super::{BoardError, MOST, Work};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its place among all entries of the board.
    pub seq: i64,
    /// When.
    pub at: String,
    /// Who did it.
    pub actor: String,
    /// What kind of thing.
    pub kind: Kind,
    /// In words.
    pub body: String,
}

/// What can happen at a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Type, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[sqlx(rename_all = "snake_case")]
pub enum Kind {
    /// It was put on the board.
    Created,
    /// It was given to its assignee.
    CheckedOut,
    /// Somebody told how far it is.
    Progress,
    /// Somebody answered how far it is.
    StatusAnswer,
    /// A document got a revision.
    DocumentWritten,
    /// A person was asked.
    HumanInputRequested,
    /// A deliverable was registered.
    Delivered,
    /// What it waits for was changed.
    DependenciesSet,
    /// It cannot go on.
    Blocked,
    /// It waits for a review.
    ReviewRequested,
    /// It is done.
    Finished,
}

/// The newest entries of the actor's task, newest first.
///
/// # Errors
/// [`BoardError::NoActiveTask`].
pub async fn newest(work: &mut Work, limit: NonZeroU64) -> Result<Vec<Entry>, BoardError> {
    let limit = i64::try_from(limit.get()).unwrap_or(MOST).min(MOST);
    let entries = sqlx::query_as(
        "SELECT seq, at, actor, kind, body FROM history WHERE task = ? ORDER BY seq DESC LIMIT ?",
    )
    .bind(work.task()?)
    .bind(limit)
    .fetch_all(&mut *work.tx)
    .await?;
    Ok(entries)
}

/// Tells something of the actor's task.
///
/// # Errors
/// [`BoardError::NoActiveTask`].
pub async fn tell(work: &mut Work, kind: Kind, body: &str) -> Result<Entry, BoardError> {
    let task = work.task()?;
    append(work, &task, kind, body).await
}

pub(super) async fn append(
    work: &mut Work,
    task: &str,
    kind: Kind,
    body: &str,
) -> Result<Entry, BoardError> {
    let entry = sqlx::query_as(
        "INSERT INTO history (task, at, actor, kind, body) VALUES (?, ?, ?, ?, ?)
         RETURNING seq, at, actor, kind, body",
    )
    .bind(task)
    .bind(work.at())
    .bind(&work.actor)
    .bind(kind)
    .bind(body)
    .fetch_one(&mut *work.tx)
    .await?;
    Ok(entry)
}
