//! Lineages in PostgreSQL; what is asked and changed stands in [`lineage`].

use async_trait::async_trait;
use sqlx::postgres::PgPool;
use ulid::Ulid;

use super::change::{Applied, Change, Write};
use crate::ledger::Entry;
use crate::store::lineage::{self, CommissionedRow, CommissionedTask, with_its_lineage};
use crate::store::rows::{all, unreadable};
use crate::store::{NewCall, NewReport, StoreError, Takes};

use Applied::{Changed, Unchanged};

/// Whether a task is not over.
pub(super) async fn is_live(write: &mut Write, task: Ulid) -> Result<bool, StoreError> {
    let live = sqlx::query(lineage::IS_LIVE)
        .bind(task.to_string())
        .fetch_optional(&mut *write.tx)
        .await?;
    Ok(live.is_some())
}

/// Counts a call for its lineage; whether every limit of it has room.
pub(super) async fn count(write: &mut Write, call: &NewCall) -> Result<bool, StoreError> {
    if call.takes == Takes::Nothing {
        return Ok(true);
    }
    let (calls, artifacts) = (call.takes.calls(), call.takes.artifacts());
    let task = call.task_id.to_string();
    let full = sqlx::query(lineage::WITHOUT_ROOM)
        .bind(&task)
        .bind(calls)
        .bind(artifacts)
        .fetch_optional(&mut *write.tx)
        .await?;
    if full.is_some() {
        return Ok(false);
    }
    sqlx::query(lineage::COUNT)
        .bind(&task)
        .bind(calls)
        .bind(artifacts)
        .execute(&mut *write.tx)
        .await?;
    Ok(true)
}

/// Takes a task back with all below it; those that were.
async fn take_back(write: &mut Write, task: Ulid, entry: &Entry) -> Result<Vec<Ulid>, StoreError> {
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
        match id == task {
            true => write.append(entry).await?,
            false => {
                write.append(&with_its_lineage(entry, task, &name)).await?;
            }
        }
        taken.push(id);
    }
    Ok(taken)
}

/// Takes a task back with all below it.
pub(super) struct Revoke {
    pub(super) id: Ulid,
    pub(super) entry: Entry,
}

#[async_trait]
impl Change for Revoke {
    type Done = Vec<Ulid>;

    async fn apply(&self, write: &mut Write) -> Result<Applied<Vec<Ulid>>, StoreError> {
        let taken = take_back(write, self.id, &self.entry).await?;
        Ok(match taken.is_empty() {
            true => Unchanged(taken),
            false => Changed(taken),
        })
    }
}

/// Ends a task by its worker's report, and takes back all below it.
pub(super) struct EndTask(pub(super) NewReport);

#[async_trait]
impl Change for EndTask {
    type Done = Option<Vec<Ulid>>;

    async fn apply(&self, write: &mut Write) -> Result<Applied<Self::Done>, StoreError> {
        let report = &self.0;
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
            return Ok(Unchanged(None));
        }
        let (sender, body) = &report.message;
        sqlx::query("INSERT INTO messages (at, task_id, sender, body) VALUES ($1, $2, $3, $4)")
            .bind(&at)
            .bind(&task)
            .bind(sender)
            .bind(body)
            .execute(&mut *write.tx)
            .await?;
        write.append(&report.entry).await?;
        let taken = take_back(write, report.task, &report.entry).await?;
        Ok(Changed(Some(taken)))
    }
}

/// The newest tasks that a task commissioned.
pub(super) async fn commissioned(
    pool: &PgPool,
    task: Ulid,
    limit: i64,
) -> Result<Vec<CommissionedTask>, StoreError> {
    let rows: Vec<CommissionedRow> = sqlx::query_as(lineage::COMMISSIONED)
        .bind(task.to_string())
        .bind(limit)
        .fetch_all(pool)
        .await?;
    all(rows)
}
