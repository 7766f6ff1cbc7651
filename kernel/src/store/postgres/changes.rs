//! What can be changed, each as it is done within one transaction.

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::json;
use sqlx::Row;
use ulid::Ulid;

use super::change::{Applied, Change, Write};
use super::lineage::is_live;
use super::presence::{InHand, is_alive};
use crate::ledger::{Entry, Kind};
use crate::store::{NewTask, StoreError};

use Applied::{Changed, Unchanged};

/// The most calls that are marked as cut off in one transaction.
const MARKED_AT_ONCE: i64 = 1_000;

/// Stores a task, its catalog and its selection tokens; whether they are stored.
pub(super) struct Issue<'a> {
    /// The task that commissioned it, if one did: it is stored only while that one is not over.
    pub(super) parent: Option<Ulid>,
    pub(super) task: NewTask<'a>,
    /// The task's grant, as JSON.
    pub(super) grant: String,
    pub(super) entry: Entry,
}

#[async_trait]
impl Change for Issue<'_> {
    type Done = bool;

    async fn apply(&self, write: &mut Write) -> Result<Applied<bool>, StoreError> {
        let task = &self.task;
        if let Some(parent) = self.parent
            && !is_live(write, parent).await?
        {
            return Ok(Unchanged(false));
        }
        let (catalog_digest, catalog) = task.catalog;
        sqlx::query("INSERT INTO catalogs (digest, body) VALUES ($1, $2) ON CONFLICT DO NOTHING")
            .bind(catalog_digest.to_string())
            .bind(catalog)
            .execute(&mut *write.tx)
            .await?;
        let (exposures_digest, exposures) = task.exposures;
        sqlx::query("INSERT INTO exposures (digest, body) VALUES ($1, $2) ON CONFLICT DO NOTHING")
            .bind(exposures_digest.to_string())
            .bind(exposures)
            .execute(&mut *write.tx)
            .await?;
        sqlx::query(
            "INSERT INTO tasks (id, token_hash, grant_body, message, expires_at, parent_id, max_calls, max_artifacts)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(task.id.to_string())
        .bind(task.token_hash.as_slice())
        .bind(&self.grant)
        .bind(task.message)
        .bind(task.expires_at.to_string())
        .bind(self.parent.map(|parent| parent.to_string()))
        .bind(i64::from(task.limits.max_model_calls))
        .bind(i64::from(task.limits.max_artifacts))
        .execute(&mut *write.tx)
        .await?;
        for selection in task.selections {
            sqlx::query(
                "INSERT INTO selection_tokens (id, task_id, type, target, expires_at)
                 VALUES ($1, $2, $3, $4, $5)",
            )
            .bind(selection.id.to_string())
            .bind(task.id.to_string())
            .bind(&selection.token_type)
            .bind(&selection.target)
            .bind(selection.expires_at.to_string())
            .execute(&mut *write.tx)
            .await?;
        }
        write.append(&self.entry).await?;
        Ok(Changed(true))
    }
}

/// Marks the calls that nobody runs any more, and forgets the kernels that are gone.
pub(super) struct MarkInterrupted<'a> {
    pub(super) kernel: Ulid,
    pub(super) in_hand: &'a InHand,
    pub(super) at: Timestamp,
}

#[async_trait]
impl Change for MarkInterrupted<'_> {
    type Done = usize;

    async fn apply(&self, write: &mut Write) -> Result<Applied<usize>, StoreError> {
        // INVARIANT: read behind the lock of the head. A call that is stored as running by now was in hand before.
        let in_hand = self.in_hand.texts();
        let rows = sqlx::query(concat!(
            "SELECT id, task_id, action FROM calls c WHERE state = 'running' AND CASE
                 WHEN kernel = $1 THEN id <> ALL ($2)
                 ELSE NOT EXISTS (SELECT FROM kernels k WHERE k.id = c.kernel AND ",
            is_alive!(),
            ") END ORDER BY id LIMIT $3"
        ))
        .bind(self.kernel.to_string())
        .bind(in_hand)
        .bind(MARKED_AT_ONCE)
        .fetch_all(&mut *write.tx)
        .await?;
        for row in &rows {
            let (id, task, action): (String, String, String) = (
                row.try_get("id")?,
                row.try_get("task_id")?,
                row.try_get("action")?,
            );
            sqlx::query(
                "UPDATE calls SET state = 'outcome_unknown', updated_at = $1 WHERE id = $2",
            )
            .bind(self.at.to_string())
            .bind(&id)
            .execute(&mut *write.tx)
            .await?;
            let body = json!({"call": id, "task": task, "action": action, "why": "the kernel stopped while it ran"});
            write
                .append(&Entry {
                    at: self.at,
                    kind: Kind::CallOutcomeUnknown,
                    body,
                })
                .await?;
        }
        // One that comes back after all registers anew, with its next beat.
        let forgotten = sqlx::query(concat!("DELETE FROM kernels k WHERE NOT ", is_alive!()))
            .execute(&mut *write.tx)
            .await?;
        Ok(match (rows.len(), forgotten.rows_affected()) {
            (0, 0) => Unchanged(0),
            (marked, _) => Changed(marked),
        })
    }
}

/// Records something that changes nothing else.
pub(super) struct RecordEntry(pub(super) Entry);

#[async_trait]
impl Change for RecordEntry {
    type Done = ();

    async fn apply(&self, write: &mut Write) -> Result<Applied<()>, StoreError> {
        write.append(&self.0).await?;
        Ok(Changed(()))
    }
}

/// Writes a message to the owner's device. It holds the head, too, so that places are given in the order in which
/// messages are seen, and nobody who goes on from one misses another.
pub(super) struct Post<'a> {
    pub(super) task_id: Ulid,
    pub(super) sender: &'a str,
    pub(super) body: &'a str,
    pub(super) at: Timestamp,
}

#[async_trait]
impl Change for Post<'_> {
    type Done = ();

    async fn apply(&self, write: &mut Write) -> Result<Applied<()>, StoreError> {
        sqlx::query("INSERT INTO messages (at, task_id, sender, body) VALUES ($1, $2, $3, $4)")
            .bind(self.at.to_string())
            .bind(self.task_id.to_string())
            .bind(self.sender)
            .bind(self.body)
            .execute(&mut *write.tx)
            .await?;
        Ok(Changed(()))
    }
}
