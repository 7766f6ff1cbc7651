//! What a task hands over: files that lie elsewhere, with what is needed to check them.

use schemars::JsonSchema;
use serde::Serialize;
use sqlx::FromRow;

use super::history::{self, Kind};
use super::work::new_id;
use super::{BoardError, Work};

/// A file to be registered.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    /// What it is, in one line.
    pub title: &'a str,
    /// Its name.
    pub filename: &'a str,
    /// Its media type.
    pub content_type: &'a str,
    /// Its size in bytes.
    pub byte_size: u64,
    /// SHA-256 of its content, 64 lower-case hexadecimal digits.
    pub sha256: &'a str,
    /// Where the content lies.
    pub content_ref: &'a str,
}

/// A file that was registered.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deliverable {
    /// Its id.
    pub id: String,
    /// Its name.
    pub filename: String,
    /// SHA-256 of its content.
    pub sha256: String,
}

/// Registers a file as what the actor's task hands over.
///
/// # Errors
/// [`BoardError::Deliverable`] when digest or size can be none.
pub async fn register(work: &mut Work, file: File<'_>) -> Result<Deliverable, BoardError> {
    let is_digest = file.sha256.len() == 64
        && file
            .sha256
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !is_digest {
        return Err(BoardError::Deliverable(
            "a SHA-256 is 64 lower-case hexadecimal digits",
        ));
    }
    let byte_size = i64::try_from(file.byte_size)
        .map_err(|_| BoardError::Deliverable("no file has that many bytes"))?;
    let task = work.task()?;
    let deliverable = sqlx::query_as(
        "INSERT INTO deliverables (id, task, title, filename, content_type, byte_size, sha256, content_ref, at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id, filename, sha256",
    )
    .bind(new_id())
    .bind(&task)
    .bind(file.title)
    .bind(file.filename)
    .bind(file.content_type)
    .bind(byte_size)
    .bind(file.sha256)
    .bind(file.content_ref)
    .bind(work.at())
    .fetch_one(&mut *work.tx)
    .await?;
    history::append(work, &task, Kind::Delivered, file.title).await?;
    Ok(deliverable)
}
