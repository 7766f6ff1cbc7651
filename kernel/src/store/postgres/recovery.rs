//! Calls that were cut off: their kernel is gone, or has them no longer in hand since their end could not be stored.
//! Nobody else touches a call that is stored as running. Who takes one over looks behind the lock of the ledger's head
//! whether it is still nobody's, so that of two kernels one does.

use actum::gate::DenialReason;
use async_trait::async_trait;
use ulid::Ulid;

use super::Shared;
use super::calls::{is_of_live_task, step};
use super::change::{Applied, Change, Write};
use super::presence::is_alive;
use crate::calls::{MOST_RESUMPTIONS, State};
use crate::ledger::Entry;
use crate::store::rows::{CallRow, all, call_where};
use crate::store::{StoreError, StoredCall};

use Applied::{Changed, Unchanged};

pub(super) async fn cut_off(shared: &Shared, limit: i64) -> Result<Vec<StoredCall>, StoreError> {
    // That they were nobody's is looked at again when one is taken over.
    let candidates: Vec<(String,)> = sqlx::query_as(concat!(
        "SELECT id FROM calls c WHERE state = 'running' AND CASE
             WHEN kernel = $1 THEN id <> ALL ($2)
             ELSE NOT EXISTS (SELECT FROM kernels k WHERE k.id = c.kernel AND ",
        is_alive!(),
        ") END ORDER BY id LIMIT $3"
    ))
    .bind(shared.kernel.to_string())
    .bind(shared.in_hand.texts())
    .bind(limit)
    .fetch_all(&shared.pool)
    .await?;
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<String> = candidates.into_iter().map(|(id,)| id).collect();
    let rows: Vec<CallRow> = sqlx::query_as(call_where!("c.id = ANY ($1) ORDER BY c.id"))
        .bind(ids)
        .fetch_all(&shared.pool)
        .await?;
    all(rows)
}

/// Whether nobody runs a call that is stored as running. INVARIANT: the asking kernel has just taken it in hand, so it
/// does not run it either.
async fn is_nobodys(write: &mut Write, call: Ulid, kernel: Ulid) -> Result<bool, StoreError> {
    let found = sqlx::query(concat!(
        "SELECT 1 FROM calls c WHERE id = $1 AND state = 'running' AND (kernel = $2
             OR NOT EXISTS (SELECT FROM kernels k WHERE k.id = c.kernel AND ",
        is_alive!(),
        "))"
    ))
    .bind(call.to_string())
    .bind(kernel.to_string())
    .fetch_optional(&mut *write.tx)
    .await?;
    Ok(found.is_some())
}

/// Takes over a call that was cut off; or says why not.
pub(super) struct Resume {
    pub(super) call: Ulid,
    /// The kernel that runs it from now on.
    pub(super) kernel: Ulid,
    pub(super) entry: Entry,
}

#[async_trait]
impl Change for Resume {
    type Done = Option<DenialReason>;

    async fn apply(&self, write: &mut Write) -> Result<Applied<Self::Done>, StoreError> {
        let Self {
            call,
            kernel,
            entry,
        } = self;
        if !is_of_live_task(write, *call).await? {
            return Ok(Unchanged(Some(DenialReason::GrantExpired)));
        }
        let elsewhere = Unchanged(Some(DenialReason::ApprovalMissing));
        if !is_nobodys(write, *call, *kernel).await?
            || !step(write, *call, State::Running, None, Some(*kernel), entry).await?
        {
            return Ok(elsewhere);
        }
        let counted = sqlx::query(
            "UPDATE calls SET resumptions = resumptions + 1 WHERE id = $1 AND resumptions < $2",
        )
        .bind(call.to_string())
        .bind(i64::from(MOST_RESUMPTIONS))
        .execute(&mut *write.tx)
        .await?;
        Ok(match counted.rows_affected() {
            1 => Changed(None),
            _ => elsewhere,
        })
    }
}

/// Ends a call that was cut off; whether nobody ran it.
pub(super) struct GiveUp<'a> {
    pub(super) call: Ulid,
    pub(super) kernel: Ulid,
    pub(super) reason: &'a str,
    pub(super) entry: Entry,
}

#[async_trait]
impl Change for GiveUp<'_> {
    type Done = bool;

    async fn apply(&self, write: &mut Write) -> Result<Applied<bool>, StoreError> {
        let Self { call, entry, .. } = self;
        let reason = Some(self.reason);
        let done = is_nobodys(write, *call, self.kernel).await?
            && step(write, *call, State::Running, reason, None, entry).await?;
        Ok(match done {
            true => Changed(true),
            false => Unchanged(false),
        })
    }
}
