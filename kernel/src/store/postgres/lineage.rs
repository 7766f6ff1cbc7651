//! The ends of lineages in PostgreSQL; what is asked and changed stands in [`lineage`].

use async_trait::async_trait;
use ulid::Ulid;

use super::change::{Applied, Change, Write};
use crate::ledger::Entry;
use crate::store::lineage::{self, Tables as _};
use crate::store::{NewReport, StoreError};

use Applied::{Changed, Unchanged};

/// Takes a task back with all below it; those that were.
async fn take_back(write: &mut Write, task: Ulid, entry: &Entry) -> Result<Vec<Ulid>, StoreError> {
    let taken = write.tx.take_back(task, entry.at).await?;
    for record in lineage::records(entry, task, &taken) {
        write.append(&record).await?;
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
        if !write.tx.end(report).await? {
            return Ok(Unchanged(None));
        }
        write.append(&report.entry).await?;
        let taken = take_back(write, report.task, &report.entry).await?;
        Ok(Changed(Some(taken)))
    }
}
