//! What can be changed, each as it is done within one transaction.

use async_trait::async_trait;
use jiff::Timestamp;
use ulid::Ulid;

use super::change::{Applied, Change, Write};
use crate::ledger::Entry;
use crate::store::lineage::Tables as _;
use crate::store::{NewTask, StoreError};

use Applied::{Changed, Unchanged};

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
            && !write.tx.is_live(parent).await?
        {
            return Ok(Unchanged(false));
        }
        write.tx.insert_task(task, &self.grant, self.parent).await?;
        write.append(&self.entry).await?;
        Ok(Changed(true))
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
