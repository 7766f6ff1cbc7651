//! Approvals: one actor asks, another decides, everybody may comment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::{FromRow, Type};

use super::work::new_id;
use super::{BoardError, MOST, Payload, Work};

/// An approval, decided or not.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// Its id.
    pub id: String,
    /// What kind of thing is to be approved.
    pub approval_type: String,
    /// What is to be approved.
    #[sqlx(try_from = "String")]
    pub payload: Payload,
    /// Who asked.
    pub requested_by: String,
    /// How it was decided; null while it is not.
    pub decision: Option<Decision>,
    /// Who decided it.
    pub decided_by: Option<String>,
    /// What that actor said of it.
    pub note: Option<String>,
}

/// How an approval ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Type, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[sqlx(rename_all = "snake_case")]
pub enum Decision {
    /// It may be done.
    Approved,
    /// It may not.
    Rejected,
    /// The question is moot.
    Cancelled,
}

/// What somebody said of an approval.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    /// Its id.
    pub id: String,
    /// Who said it.
    pub author: String,
    /// In words.
    pub body: String,
    /// When.
    pub at: String,
}

/// The approvals, newest first.
///
/// # Errors
/// [`BoardError::Database`].
pub async fn list(work: &mut Work) -> Result<Vec<Approval>, BoardError> {
    let approvals = sqlx::query_as(
        "SELECT id, approval_type, payload, requested_by, decision, decided_by, note
         FROM approvals ORDER BY requested_at DESC, id DESC LIMIT ?",
    )
    .bind(MOST)
    .fetch_all(&mut *work.tx)
    .await?;
    Ok(approvals)
}

/// Asks for an approval.
///
/// # Errors
/// [`BoardError::Database`].
pub async fn request(
    work: &mut Work,
    approval_type: &str,
    payload: &Payload,
) -> Result<Approval, BoardError> {
    let id = new_id();
    sqlx::query(
        "INSERT INTO approvals (id, approval_type, payload, requested_by, requested_at)
         VALUES (?, ?, ?, ?, ?)",
    )
    .bind(&id)
    .bind(approval_type)
    .bind(payload.to_text()?)
    .bind(&work.actor)
    .bind(work.at())
    .execute(&mut *work.tx)
    .await?;
    get(work, &id).await
}

/// Decides an approval, once, and never the actor's own.
///
/// # Errors
/// [`BoardError::OwnRequest`], and [`BoardError::Decided`] when it was decided before.
pub async fn decide(
    work: &mut Work,
    id: &str,
    decision: Decision,
    note: &str,
) -> Result<Approval, BoardError> {
    let approval = get(work, id).await?;
    if approval.requested_by == work.actor {
        return Err(BoardError::OwnRequest(id.to_owned()));
    }
    if let Some(decision) = approval.decision {
        return Err(BoardError::Decided {
            id: id.to_owned(),
            decision,
        });
    }
    sqlx::query("UPDATE approvals SET decision = ?, decided_by = ?, note = ? WHERE id = ?")
        .bind(decision)
        .bind(&work.actor)
        .bind(note)
        .bind(id)
        .execute(&mut *work.tx)
        .await?;
    get(work, id).await
}

/// Says something of an approval, decided or not.
///
/// # Errors
/// [`BoardError::Missing`] when there is no such approval.
pub async fn comment(work: &mut Work, id: &str, body: &str) -> Result<Comment, BoardError> {
    get(work, id).await?;
    let comment = sqlx::query_as(
        "INSERT INTO approval_comments (id, approval, author, body, at)
         VALUES (?, ?, ?, ?, ?) RETURNING id, author, body, at",
    )
    .bind(new_id())
    .bind(id)
    .bind(&work.actor)
    .bind(body)
    .bind(work.at())
    .fetch_one(&mut *work.tx)
    .await?;
    Ok(comment)
}

async fn get(work: &mut Work, id: &str) -> Result<Approval, BoardError> {
    let approval = sqlx::query_as(
        "SELECT id, approval_type, payload, requested_by, decision, decided_by, note
         FROM approvals WHERE id = ?",
    )
    .bind(id)
    .fetch_optional(&mut *work.tx)
    .await?;
    approval.ok_or_else(|| BoardError::missing("approval", id))
}
