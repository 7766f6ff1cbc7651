//! Calls that were cut off. One kernel writes here: a call that is stored as running and that it does not have in hand is
//! left from a start before, or could not be ended.

use actum::gate::DenialReason;
use actum::registry::Admitted;
use ulid::Ulid;

use super::{SqliteStore, calls};
use crate::calls::{MOST_RESUMPTIONS, State};
use crate::ledger::Entry;
use crate::store::{NotBegun, Recorded, Started, StoreError, StoredCall};

pub(super) async fn cut_off(
    store: &SqliteStore,
    limit: i64,
) -> Result<Vec<StoredCall>, StoreError> {
    let in_hand = i64::try_from(store.in_hand.texts().len()).unwrap_or(i64::MAX);
    let most = limit.saturating_add(in_hand);
    let mut running = calls::in_state(&store.readers, State::Running, most).await?;
    running.retain(|call| !store.in_hand.has(call.id));
    running.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(running)
}

pub(super) async fn resume(
    store: &SqliteStore,
    admitted: Admitted,
    call: Ulid,
    entry: Entry,
) -> Result<Started, StoreError> {
    let refused = |reason| Ok(Started::Not(NotBegun::Refused(reason)));
    let elsewhere = DenialReason::ApprovalMissing;
    let Some(taken) = store.in_hand.take(call) else {
        return refused(elsewhere);
    };
    let mut write = store.writer.begin().await?;
    if !calls::is_of_live_task(&mut write.tx, call).await? {
        return refused(DenialReason::GrantExpired);
    }
    if !calls::step(&mut write, call, State::Running, None, entry).await? {
        return refused(elsewhere);
    }
    let counted = sqlx::query(
        "UPDATE calls SET resumptions = resumptions + 1 WHERE id = ? AND resumptions < ?",
    )
    .bind(call.to_string())
    .bind(MOST_RESUMPTIONS)
    .execute(&mut *write.tx)
    .await?;
    if counted.rows_affected() != 1 {
        return refused(elsewhere);
    }
    write.commit().await?;
    taken.keep();
    Ok(Started::Recorded(Recorded(admitted)))
}

pub(super) async fn give_up(
    store: &SqliteStore,
    call: Ulid,
    reason: &str,
    entry: Entry,
) -> Result<bool, StoreError> {
    // For this moment, so that nobody resumes it meanwhile.
    let Some(_taken) = store.in_hand.take(call) else {
        return Ok(false);
    };
    let mut write = store.writer.begin().await?;
    let done = calls::step(&mut write, call, State::Running, Some(reason), entry).await?;
    if done {
        write.commit().await?;
    }
    Ok(done)
}
