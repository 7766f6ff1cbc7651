//! Routines: what begins tasks by the clock.

use schemars::JsonSchema;
use serde::Serialize;
use sqlx::FromRow;

use super::{BoardError, MOST, Work};

/// A routine.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Routine {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// When it begins a task, in words.
    pub schedule: String,
    /// Whether it rests.
    pub paused: bool,
}

/// The routines.
///
/// # Errors
/// [`BoardError::Database`].
pub async fn list(work: &mut Work) -> Result<Vec<Routine>, BoardError> {
    let routines =
        sqlx::query_as("SELECT id, name, schedule, paused FROM routines ORDER BY id LIMIT ?")
            .bind(MOST)
            .fetch_all(&mut *work.tx)
            .await?;
    Ok(routines)
}

/// Pauses the routine that began the actor's task, or lets it go on if it rests.
///
/// # Errors
/// [`BoardError::NoRoutine`] when none began it.
pub async fn switch(work: &mut Work) -> Result<Routine, BoardError> {
    let task = work.task()?;
    let routine = sqlx::query_as(
        "UPDATE routines SET paused = NOT paused
         WHERE id = (SELECT routine FROM tasks WHERE id = ?)
         RETURNING id, name, schedule, paused",
    )
    .bind(&task)
    .fetch_optional(&mut *work.tx)
    .await?;
    routine.ok_or(BoardError::NoRoutine(task))
}
