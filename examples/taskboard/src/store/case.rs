//! Cases: what the company keeps track of under a key of its own.

use schemars::JsonSchema;
use serde::Serialize;
use sqlx::FromRow;

use super::{BoardError, MOST, Work};

/// A case.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Case {
    /// Its key.
    pub key: String,
    /// What there is to say.
    pub body: String,
    /// Who said it.
    pub updated_by: String,
    /// When.
    pub updated_at: String,
}

/// The cases, by their keys.
///
/// # Errors
/// [`BoardError::Database`].
pub async fn list(work: &mut Work) -> Result<Vec<Case>, BoardError> {
    let cases =
        sqlx::query_as("SELECT key, body, updated_by, updated_at FROM cases ORDER BY key LIMIT ?")
            .bind(MOST)
            .fetch_all(&mut *work.tx)
            .await?;
    Ok(cases)
}

/// Makes a case, or says something else of it.
///
/// # Errors
/// [`BoardError::Database`].
pub async fn upsert(work: &mut Work, key: &str, body: &str) -> Result<Case, BoardError> {
    let case = sqlx::query_as(
        "INSERT INTO cases (key, body, updated_by, updated_at) VALUES (?, ?, ?, ?)
         ON CONFLICT (key) DO UPDATE SET body = excluded.body,
             updated_by = excluded.updated_by, updated_at = excluded.updated_at
         RETURNING key, body, updated_by, updated_at",
    )
    .bind(key)
    .bind(body)
    .bind(&work.actor)
    .bind(work.at())
    .fetch_one(&mut *work.tx)
    .await?;
    Ok(case)
}
