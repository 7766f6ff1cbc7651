//! Lineages in SQLite; what is asked and changed stands in [`lineage`].

use sqlx::sqlite::SqlitePool;
use ulid::Ulid;

use super::writer::{Savepoint, Write};
use crate::ledger::Entry;
use crate::store::lineage::{self, CommissionedRow, CommissionedTask, with_its_lineage};
use crate::store::rows::{all, unreadable};
use crate::store::{NewCall, NewReport, NewTask, StoreError, Takes};

/// Stores a task, its catalog and its selection tokens.
pub(super) async fn insert(
    tx: &mut Savepoint,
    task: &NewTask<'_>,
    parent: Option<Ulid>,
) -> Result<(), StoreError> {
    let (catalog_digest, catalog) = task.catalog;
    sqlx::query("INSERT INTO catalogs (digest, body) VALUES (?, ?) ON CONFLICT DO NOTHING")
        .bind(catalog_digest.to_string())
        .bind(catalog)
        .execute(&mut **tx)
        .await?;
    let (exposures_digest, exposures) = task.exposures;
    sqlx::query("INSERT INTO exposures (digest, body) VALUES (?, ?) ON CONFLICT DO NOTHING")
        .bind(exposures_digest.to_string())
        .bind(exposures)
        .execute(&mut **tx)
        .await?;
    sqlx::query(
        "INSERT INTO tasks (id, token_hash, grant_body, message, expires_at, parent_id, max_calls, max_artifacts)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(task.id.to_string())
    .bind(task.token_hash.as_slice())
    .bind(serde_json::to_string(task.grant).map_err(unreadable)?)
    .bind(task.message)
    .bind(task.expires_at.to_string())
    .bind(parent.map(|parent| parent.to_string()))
    .bind(i64::from(task.limits.max_model_calls))
    .bind(i64::from(task.limits.max_artifacts))
    .execute(&mut **tx)
    .await?;
    for selection in task.selections {
        sqlx::query(
            "INSERT INTO selection_tokens (id, task_id, type, target, expires_at)
             VALUES (?, ?, ?, ?, ?)",
        )
        .bind(selection.id.to_string())
        .bind(task.id.to_string())
        .bind(&selection.token_type)
        .bind(&selection.target)
        .bind(selection.expires_at.to_string())
        .execute(&mut **tx)
        .await?;
    }
    Ok(())
}

/// Whether a task is not over.
pub(super) async fn is_live(tx: &mut Savepoint, task: Ulid) -> Result<bool, StoreError> {
    let live = sqlx::query(lineage::IS_LIVE)
        .bind(task.to_string())
        .fetch_optional(&mut **tx)
        .await?;
    Ok(live.is_some())
}

/// Counts a call for its lineage; whether every limit of it has room.
pub(super) async fn count(tx: &mut Savepoint, call: &NewCall) -> Result<bool, StoreError> {
    if call.takes == Takes::Nothing {
        return Ok(true);
    }
    let (calls, artifacts) = (call.takes.calls(), call.takes.artifacts());
    let task = call.task_id.to_string();
    let full = sqlx::query(lineage::WITHOUT_ROOM)
        .bind(&task)
        .bind(calls)
        .bind(artifacts)
        .fetch_optional(&mut **tx)
        .await?;
    if full.is_some() {
        return Ok(false);
    }
    sqlx::query(lineage::COUNT)
        .bind(&task)
        .bind(calls)
        .bind(artifacts)
        .execute(&mut **tx)
        .await?;
    Ok(true)
}

/// Takes a task back with all below it; those that were.
pub(super) async fn take_back(
    write: &mut Write,
    task: Ulid,
    entry: &Entry,
) -> Result<Vec<Ulid>, StoreError> {
    let live: Vec<String> = sqlx::query_scalar(lineage::BELOW)
        .bind(task.to_string())
        .fetch_all(&mut *write.tx)
        .await?;
    let mut taken = Vec::with_capacity(live.len());
    for name in live {
        let id = Ulid::from_string(&name).map_err(unreadable)?;
        sqlx::query(lineage::TAKE_BACK)
            .bind(&name)
            .bind(entry.at.to_string())
            .execute(&mut *write.tx)
            .await?;
        let record = match id == task {
            true => entry.clone(),
            false => with_its_lineage(entry, task, &name),
        };
        write.append(record).await?;
        taken.push(id);
    }
    Ok(taken)
}

/// Ends a task by its worker's report, and takes back all below it, which is told; `None` if it was over before.
pub(super) async fn end(
    write: &mut Write,
    report: &NewReport,
) -> Result<Option<Vec<Ulid>>, StoreError> {
    let task = report.task.to_string();
    let at = report.entry.at.to_string();
    let ended = sqlx::query(lineage::END)
        .bind(&task)
        .bind(&at)
        .bind(report.outcome.as_str())
        .bind(report.json()?)
        .execute(&mut *write.tx)
        .await?;
    if ended.rows_affected() != 1 {
        return Ok(None);
    }
    let (sender, body) = &report.message;
    sqlx::query("INSERT INTO messages (at, task_id, sender, body) VALUES ($1, $2, $3, $4)")
        .bind(&at)
        .bind(&task)
        .bind(sender)
        .bind(body)
        .execute(&mut *write.tx)
        .await?;
    write.append(report.entry.clone()).await?;
    take_back(write, report.task, &report.entry).await.map(Some)
}

/// The newest tasks that a task commissioned.
pub(super) async fn commissioned(
    readers: &SqlitePool,
    task: Ulid,
    limit: i64,
) -> Result<Vec<CommissionedTask>, StoreError> {
    let rows: Vec<CommissionedRow> = sqlx::query_as(lineage::COMMISSIONED)
        .bind(task.to_string())
        .bind(limit)
        .fetch_all(readers)
        .await?;
    all(rows)
}
