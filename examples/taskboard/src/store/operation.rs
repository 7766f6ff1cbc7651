//! What changing operations answered, for those who want to look again.

use actum::ActionId;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use sqlx::FromRow;
use ulid::Ulid;

use super::{BoardError, Work};

/// What an operation answered.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// The operation's name.
    pub operation: String,
    /// Its result.
    pub result: Value,
    /// When it was called.
    pub at: String,
}

#[derive(FromRow)]
struct Row {
    operation: String,
    result: String,
    at: String,
}

pub(super) async fn keep(
    work: &mut Work,
    id: Ulid,
    name: &ActionId,
    result: &str,
) -> Result<(), BoardError> {
    let at = work.at();
    sqlx::query("INSERT INTO operations (id, actor, operation, result, at) VALUES (?, ?, ?, ?, ?)")
        .bind(id.to_string())
        .bind(&work.actor)
        .bind(name.as_str())
        .bind(result)
        .bind(at)
        .execute(&mut *work.tx)
        .await?;
    Ok(())
}

/// What an operation of the same actor answered, by the id of its call.
///
/// # Errors
/// [`BoardError::Missing`] when there is none; another actor's are none.
pub async fn inspect(work: &mut Work, id: &str) -> Result<Operation, BoardError> {
    let row: Option<Row> =
        sqlx::query_as("SELECT operation, result, at FROM operations WHERE id = ? AND actor = ?")
            .bind(id)
            .bind(&work.actor)
            .fetch_optional(&mut *work.tx)
            .await?;
    let row = row.ok_or_else(|| BoardError::missing("operation result", id))?;
    Ok(Operation {
        operation: row.operation,
        result: serde_json::from_str(&row.result)?,
        at: row.at,
    })
}
