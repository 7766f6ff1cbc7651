//! Tasks, and the moves from one status to the next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::{FromRow, Type};

use super::history::{self, Kind};
use super::payload::word;
use super::work::new_id;
use super::{BoardError, MOST, Work, dependency};

/// A task.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its id.
    pub id: String,
    /// What it is, in one line.
    pub title: String,
    /// What it is, in full.
    pub description: String,
    /// How far it is.
    pub status: Status,
    /// How much it matters.
    pub priority: Priority,
    /// The actor that it is for.
    pub assignee: Option<String>,
    /// The task that it was made for.
    pub parent: Option<String>,
    /// The routine that began it.
    pub routine: Option<String>,
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Type, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[sqlx(rename_all = "snake_case")]
pub enum Status {
    /// Nobody is at it.
    Open,
    /// Its assignee is at it.
    Active,
    /// It cannot go on.
    Blocked,
    /// It waits for a review.
    InReview,
    /// It is done.
    Done,
}

/// How much a task matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Type, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[sqlx(rename_all = "snake_case")]
pub enum Priority {
    /// It can wait.
    Low,
    /// As most.
    Normal,
    /// Before others.
    High,
    /// Now.
    Urgent,
}

/// A task with what it waits for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Context {
    /// The task.
    pub task: Task,
    /// The tasks that come before it.
    pub blocked_by: Vec<Task>,
}

/// A task to be made.
#[derive(Debug, Clone, Copy)]
pub struct NewTask<'a> {
    /// What it is, in one line.
    pub title: &'a str,
    /// What it is, in full.
    pub description: &'a str,
    /// The actor that it is for; empty for nobody yet.
    pub assignee: &'a str,
    /// A [`Priority`], as its word.
    pub priority: &'a str,
    /// The tasks that come before it.
    pub blocked_by: &'a [String],
}

/// The actor's task.
///
/// # Errors
/// [`BoardError::NoActiveTask`].
pub async fn context(work: &mut Work) -> Result<Context, BoardError> {
    let id = work.task()?;
    Ok(Context {
        task: get(work, &id).await?,
        blocked_by: dependency::of(work, &id).await?,
    })
}

/// The tasks with a text in title or description, of a status; empty texts take all.
///
/// # Errors
/// [`BoardError::NoSuchWord`] when there is no such status.
pub async fn search(work: &mut Work, text: &str, status: &str) -> Result<Vec<Task>, BoardError> {
    let status: Option<Status> = match status {
        "" => None,
        status => Some(word("status", status)?),
    };
    let tasks = sqlx::query_as(
        "SELECT id, title, description, status, priority, assignee, parent, routine FROM tasks
         WHERE (instr(lower(title), lower(?1)) OR instr(lower(description), lower(?1)))
           AND (?2 IS NULL OR status = ?2)
         ORDER BY created_at, id LIMIT ?3",
    )
    .bind(text)
    .bind(status)
    .bind(MOST)
    .fetch_all(&mut *work.tx)
    .await?;
    Ok(tasks)
}

/// Puts a task on the board, below the actor's own if it is at one.
///
/// # Errors
/// [`BoardError`] when assignee, priority or one of the tasks before it do not exist.
pub async fn create(work: &mut Work, new: NewTask<'_>) -> Result<Task, BoardError> {
    let id = new_id();
    let priority: Priority = word("priority", new.priority)?;
    let assignee = Some(new.assignee).filter(|assignee| !assignee.is_empty());
    if let Some(assignee) = assignee {
        let known: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM actors WHERE id = ?)")
            .bind(assignee)
            .fetch_one(&mut *work.tx)
            .await?;
        known
            .then_some(())
            .ok_or_else(|| BoardError::missing("actor", assignee))?;
    }
    let at = work.at();
    sqlx::query(
        "INSERT INTO tasks (id, title, description, status, priority, assignee, parent, created_by, created_at, updated_at)
         VALUES (?1, ?2, ?3, 'open', ?4, ?5, ?6, ?7, ?8, ?8)",
    )
    .bind(&id)
    .bind(new.title)
    .bind(new.description)
    .bind(priority)
    .bind(assignee)
    .bind(work.task().ok())
    .bind(&work.actor)
    .bind(at)
    .execute(&mut *work.tx)
    .await?;
    history::append(work, &id, Kind::Created, new.title).await?;
    dependency::replace(work, &id, new.blocked_by).await?;
    get(work, &id).await
}

/// Gives a task that is not done, and that nobody is at, to an actor who is at no other. For the
/// control plane alone.
///
/// # Errors
/// [`BoardError::NotFree`] when task or actor are not free.
pub async fn check_out(work: &mut Work, id: &str, actor: &str) -> Result<Task, BoardError> {
    let checked_out = sqlx::query(
        "UPDATE tasks SET status = 'active', assignee = ?2, updated_at = ?3
         WHERE id = ?1 AND status NOT IN ('active', 'done')
           AND NOT EXISTS (SELECT 1 FROM tasks WHERE assignee = ?2 AND status = 'active')",
    )
    .bind(id)
    .bind(actor)
    .bind(work.at())
    .execute(&mut *work.tx)
    .await?;
    if checked_out.rows_affected() == 0 {
        return Err(BoardError::NotFree(id.to_owned()));
    }
    history::append(work, id, Kind::CheckedOut, actor).await?;
    get(work, id).await
}

/// Ends the actor's task.
///
/// # Errors
/// [`BoardError::StillBlocked`] when one that comes before it is not done.
pub async fn finish(work: &mut Work, summary: &str) -> Result<Task, BoardError> {
    let task = work.task()?;
    let open = dependency::not_done(work, &task).await?;
    if !open.is_empty() {
        return Err(BoardError::StillBlocked { task, open });
    }
    leave(work, Status::Done, Kind::Finished, summary).await
}

/// Says that the actor's task cannot go on, and which tasks have to be done first.
///
/// # Errors
/// As those of [`dependency::add`].
pub async fn block(work: &mut Work, reason: &str, by: &[String]) -> Result<Task, BoardError> {
    let task = work.task()?;
    dependency::add(work, &task, by).await?;
    leave(work, Status::Blocked, Kind::Blocked, reason).await
}

/// Hands the actor's task over to a reviewer.
///
/// # Errors
/// [`BoardError::NoActiveTask`].
pub async fn request_review(work: &mut Work, summary: &str) -> Result<Task, BoardError> {
    leave(work, Status::InReview, Kind::ReviewRequested, summary).await
}

/// The actor leaves its task, which gets another status.
async fn leave(
    work: &mut Work,
    status: Status,
    kind: Kind,
    words: &str,
) -> Result<Task, BoardError> {
    let task = work.task()?;
    sqlx::query("UPDATE tasks SET status = ?, updated_at = ? WHERE id = ?")
        .bind(status)
        .bind(work.at())
        .bind(&task)
        .execute(&mut *work.tx)
        .await?;
    history::append(work, &task, kind, words).await?;
    get(work, &task).await
}

pub(super) async fn get(work: &mut Work, id: &str) -> Result<Task, BoardError> {
    let task = sqlx::query_as(
        "SELECT id, title, description, status, priority, assignee, parent, routine FROM tasks WHERE id = ?",
    )
    .bind(id)
    .fetch_optional(&mut *work.tx)
    .await?;
    task.ok_or_else(|| BoardError::missing("task", id))
}
