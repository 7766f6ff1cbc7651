//! Which tasks come before which. INVARIANT: no task waits for itself, over however many others.

use super::history::{self, Kind};
use super::task::{self, Task};
use super::{BoardError, MOST, Work};

/// The tasks that come right before a task.
///
/// # Errors
/// [`BoardError::Database`].
pub async fn of(work: &mut Work, task: &str) -> Result<Vec<Task>, BoardError> {
    let tasks = sqlx::query_as(
        "SELECT id, title, description, status, priority, assignee, parent, routine FROM tasks
         JOIN dependencies ON blocked_by = id WHERE task = ? ORDER BY id LIMIT ?",
    )
    .bind(task)
    .bind(MOST)
    .fetch_all(&mut *work.tx)
    .await?;
    Ok(tasks)
}

/// The ids of those that come right before a task and are not done; empty only if there is none.
pub(super) async fn not_done(work: &mut Work, task: &str) -> Result<Vec<String>, BoardError> {
    let ids = sqlx::query_scalar(
        "SELECT blocked_by FROM dependencies JOIN tasks ON id = blocked_by
         WHERE task = ? AND status <> 'done' ORDER BY id LIMIT ?",
    )
    .bind(task)
    .bind(MOST)
    .fetch_all(&mut *work.tx)
    .await?;
    Ok(ids)
}

/// Says anew which tasks come before the actor's own.
///
/// # Errors
/// As those of [`add`].
pub async fn set(work: &mut Work, blocked_by: &[String]) -> Result<Vec<Task>, BoardError> {
    let task = work.task()?;
    replace(work, &task, blocked_by).await?;
    history::append(work, &task, Kind::DependenciesSet, &blocked_by.join(", ")).await?;
    of(work, &task).await
}

pub(super) async fn replace(
    work: &mut Work,
    task: &str,
    blocked_by: &[String],
) -> Result<(), BoardError> {
    sqlx::query("DELETE FROM dependencies WHERE task = ?")
        .bind(task)
        .execute(&mut *work.tx)
        .await?;
    add(work, task, blocked_by).await
}

/// Puts tasks before a task, besides those that are there.
///
/// # Errors
/// [`BoardError::Missing`] when one of them does not exist, [`BoardError::Cycle`] when the task would
/// wait for itself.
pub async fn add(work: &mut Work, task: &str, blocked_by: &[String]) -> Result<(), BoardError> {
    for before in blocked_by {
        task::get(work, before).await?;
        if waits_for(work, before, task).await? {
            return Err(BoardError::Cycle {
                task: task.to_owned(),
                blocked_by: before.clone(),
            });
        }
        sqlx::query("INSERT OR IGNORE INTO dependencies (task, blocked_by) VALUES (?, ?)")
            .bind(task)
            .bind(before)
            .execute(&mut *work.tx)
            .await?;
    }
    Ok(())
}

/// Whether a task is the other one, or waits for it over any number of others.
async fn waits_for(work: &mut Work, task: &str, other: &str) -> Result<bool, BoardError> {
    // UNION drops what it has seen, so that this ends.
    let waits = sqlx::query_scalar(
        "WITH RECURSIVE before (id) AS (
             VALUES (?1) UNION SELECT blocked_by FROM dependencies JOIN before ON task = id
         )
         SELECT EXISTS (SELECT 1 FROM before WHERE id = ?2)",
    )
    .bind(task)
    .bind(other)
    .fetch_one(&mut *work.tx)
    .await?;
    Ok(waits)
}
