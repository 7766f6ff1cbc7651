//! Documents of a task. Each change is a revision over the newest one, or it is refused.

use schemars::JsonSchema;
use serde::Serialize;
use sqlx::FromRow;

use super::history::{self, Kind};
use super::work::new_id;
use super::{BoardError, MOST, Work};

/// One revision, without its text.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Revision {
    /// Its id.
    pub id: String,
    /// The document's key within the task.
    pub key: String,
    /// Its place among the document's revisions, from 1.
    pub number: i64,
    /// The title.
    pub title: String,
    /// What changed.
    pub summary: String,
    /// Who wrote it.
    pub author: String,
    /// When.
    pub at: String,
}

/// A document as of its newest revision.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// The revision; what the next text is written over.
    pub revision_id: String,
    /// The title.
    pub title: String,
    /// The text.
    pub body: String,
}

/// A text for a document.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a> {
    /// The document's key within the task.
    pub key: &'a str,
    /// The title.
    pub title: &'a str,
    /// The text.
    pub body: &'a str,
    /// The revision that it was written over; none for a new document.
    pub base: Option<&'a str>,
    /// What changed.
    pub summary: &'a str,
}

/// The documents of the actor's task, each as its newest revision.
///
/// # Errors
/// [`BoardError::NoActiveTask`].
pub async fn list(work: &mut Work) -> Result<Vec<Revision>, BoardError> {
    let newest = sqlx::query_as(
        "SELECT id, key, max(number) AS number, title, summary, author, at FROM revisions
         WHERE task = ? GROUP BY key ORDER BY key LIMIT ?",
    )
    .bind(work.task()?)
    .bind(MOST)
    .fetch_all(&mut *work.tx)
    .await?;
    Ok(newest)
}

/// A document of the actor's task.
///
/// # Errors
/// [`BoardError::Missing`].
pub async fn read(work: &mut Work, key: &str) -> Result<Document, BoardError> {
    let document = sqlx::query_as(
        "SELECT id AS revision_id, title, body FROM revisions
         WHERE task = ? AND key = ? ORDER BY number DESC LIMIT 1",
    )
    .bind(work.task()?)
    .bind(key)
    .fetch_optional(&mut *work.tx)
    .await?;
    document.ok_or_else(|| BoardError::missing("document", key))
}

/// The revisions of a document, newest first.
///
/// # Errors
/// [`BoardError::Missing`] when there is no such document.
pub async fn revisions(work: &mut Work, key: &str) -> Result<Vec<Revision>, BoardError> {
    let revisions: Vec<Revision> = sqlx::query_as(
        "SELECT id, key, number, title, summary, author, at FROM revisions
         WHERE task = ? AND key = ? ORDER BY number DESC LIMIT ?",
    )
    .bind(work.task()?)
    .bind(key)
    .bind(MOST)
    .fetch_all(&mut *work.tx)
    .await?;
    if revisions.is_empty() {
        return Err(BoardError::missing("document", key));
    }
    Ok(revisions)
}

/// Writes a revision over the newest one.
///
/// # Errors
/// [`BoardError::StaleBase`] when it was written over another; nothing of that one is lost.
pub async fn write(work: &mut Work, text: Text<'_>) -> Result<Revision, BoardError> {
    let task = work.task()?;
    let newest: Option<(String, i64)> = sqlx::query_as(
        "SELECT id, number FROM revisions WHERE task = ? AND key = ? ORDER BY number DESC LIMIT 1",
    )
    .bind(&task)
    .bind(text.key)
    .fetch_optional(&mut *work.tx)
    .await?;
    let (newest, number) = newest.unzip();
    if newest.as_deref() != text.base {
        return Err(BoardError::StaleBase {
            key: text.key.to_owned(),
            base: text.base.map(str::to_owned),
            newest,
        });
    }
    let revision = sqlx::query_as(
        "INSERT INTO revisions (id, task, key, number, title, body, summary, author, at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
         RETURNING id, key, number, title, summary, author, at",
    )
    .bind(new_id())
    .bind(&task)
    .bind(text.key)
    .bind(number.unwrap_or(0) + 1)
    .bind(text.title)
    .bind(text.body)
    .bind(text.summary)
    .bind(&work.actor)
    .bind(work.at())
    .fetch_one(&mut *work.tx)
    .await?;
    history::append(work, &task, Kind::DocumentWritten, text.key).await?;
    Ok(revision)
}
