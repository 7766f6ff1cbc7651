//! Calls in the database: one query for each thing that is asked of them.

use actum::Digest;
use actum::gate::DenialReason;
use sqlx::sqlite::{SqliteExecutor, SqlitePool};
use ulid::Ulid;

use super::writer::{Savepoint, Write};
use crate::calls::{State, after};
use crate::ledger::Entry;
use crate::store::lineage::Tables as _;
use crate::store::rows::{CallRow, DecisionRow, all, call_where, state, unreadable};
use crate::store::{
    Decided, NewCall, NewDecision, NotBegun, StoreError, StoredCall, StoredDecision, Waiting,
};

/// Where a call is stored as it begins.
pub(super) async fn insert(
    tx: &mut Savepoint,
    call: &NewCall,
    state: State,
    waiting: Option<&Waiting>,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO calls (id, task_id, action, arguments, sealed, state, binding, selection, expires_at,
             idempotency_key, asked, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(call.id.to_string())
    .bind(call.task_id.to_string())
    .bind(call.action.as_str())
    .bind(&call.arguments)
    .bind(&call.sealed)
    .bind(state.as_str())
    .bind(waiting.map(|waiting| waiting.binding.to_string()))
    .bind(call.spends.map(|token| token.to_string()))
    .bind(waiting.map(|waiting| waiting.expires_at.to_string()))
    .bind(call.keyed.map(|keyed| keyed.key.to_string()))
    .bind(call.keyed.map(|keyed| keyed.asked.to_string()))
    .bind(call.entry.at.to_string())
    .bind(call.entry.at.to_string())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// The call of a task that came with this key.
pub(super) async fn of_key(
    reader: impl SqliteExecutor<'_>,
    task: Ulid,
    key: Digest,
) -> Result<Option<StoredCall>, StoreError> {
    let row: Option<CallRow> =
        sqlx::query_as(call_where!("c.task_id = $1 AND c.idempotency_key = $2"))
            .bind(task.to_string())
            .bind(key.to_string())
            .fetch_optional(reader)
            .await?;
    row.map(StoredCall::try_from).transpose()
}

/// What keeps a call from beginning: since the gate looked, another call may have come under its key or spent
/// its token, or the task may be over; or its lineage has made as many calls as it may.
pub(super) async fn begin(
    tx: &mut Savepoint,
    call: &NewCall,
    instead_of: Option<Ulid>,
) -> Result<Option<NotBegun>, StoreError> {
    if !tx.is_live(call.task_id).await? {
        return Ok(Some(NotBegun::Refused(DenialReason::GrantExpired)));
    }
    if let Some(keyed) = call.keyed
        && let Some(first) = of_key(&mut **tx, call.task_id, keyed.key).await?
    {
        return Ok(Some(NotBegun::Again(first.id)));
    }
    // A call that takes the place of another one was counted with it.
    if instead_of.is_none() && !tx.count(call).await? {
        return Ok(Some(NotBegun::Refused(DenialReason::LimitReached)));
    }
    let Some(token) = call.spends else {
        return Ok(None);
    };
    let refused = NotBegun::Refused(DenialReason::SelectionTokenInvalid);
    // A call takes over the token of the one whose place it takes.
    let spent = tx.spend(call, token, instead_of).await?;
    Ok((!spent).then_some(refused))
}

/// Whether the task of a call is not over.
pub(super) async fn is_of_live_task(tx: &mut Savepoint, call: Ulid) -> Result<bool, StoreError> {
    let live = sqlx::query(
        "SELECT 1 FROM calls c JOIN tasks t ON t.id = c.task_id
         WHERE c.id = ? AND t.revoked_at IS NULL AND t.ended_at IS NULL",
    )
    .bind(call.to_string())
    .fetch_optional(&mut **tx)
    .await?;
    Ok(live.is_some())
}

pub(super) async fn get(readers: &SqlitePool, id: Ulid) -> Result<Option<StoredCall>, StoreError> {
    let row: Option<CallRow> = sqlx::query_as(call_where!("c.id = $1"))
        .bind(id.to_string())
        .fetch_optional(readers)
        .await?;
    row.map(StoredCall::try_from).transpose()
}

pub(super) async fn in_state(
    readers: &SqlitePool,
    state: State,
    limit: i64,
) -> Result<Vec<StoredCall>, StoreError> {
    let rows: Vec<CallRow> = sqlx::query_as(call_where!("c.state = $1 ORDER BY c.id LIMIT $2"))
        .bind(state.as_str())
        .bind(limit)
        .fetch_all(readers)
        .await?;
    all(rows)
}

/// Takes a call from a state to where the record takes it, with the record; whether it was there.
pub(super) async fn step(
    write: &mut Write,
    id: Ulid,
    from: State,
    reason: Option<&str>,
    entry: Entry,
) -> Result<bool, StoreError> {
    let to = after(Some(from), entry.kind).ok_or_else(|| {
        unreadable(format!(
            "a call is not taken on from `{}` by `{}`",
            from.as_str(),
            entry.kind.as_str()
        ))
    })?;
    let done = sqlx::query(
        "UPDATE calls SET state = ?, reason = coalesce(?, reason), updated_at = ?,
             sealed = iif(?, NULL, sealed)
         WHERE id = ? AND state = ?",
    )
    .bind(to.as_str())
    .bind(reason)
    .bind(entry.at.to_string())
    .bind(!to.needs_arguments())
    .bind(id.to_string())
    .bind(from.as_str())
    .execute(&mut *write.tx)
    .await?;
    if done.rows_affected() != 1 {
        return Ok(false);
    }
    write.append(entry).await?;
    Ok(true)
}

/// Says which call took the place of one that was rejected.
pub(super) async fn supersede(tx: &mut Savepoint, old: Ulid, new: Ulid) -> Result<(), StoreError> {
    sqlx::query("UPDATE calls SET superseded_by = ? WHERE id = ?")
        .bind(new.to_string())
        .bind(old.to_string())
        .execute(&mut **tx)
        .await?;
    Ok(())
}

pub(super) async fn of_action(
    readers: &SqlitePool,
    action: &str,
    after: Ulid,
    limit: i64,
) -> Result<Vec<StoredCall>, StoreError> {
    let rows: Vec<CallRow> = sqlx::query_as(call_where!(
        "c.action = $1 AND c.id > $2 ORDER BY c.id DESC LIMIT $3"
    ))
    .bind(action)
    .bind(after.to_string())
    .bind(limit)
    .fetch_all(readers)
    .await?;
    all(rows)
}

pub(super) async fn decisions(
    readers: &SqlitePool,
    id: Ulid,
) -> Result<Vec<StoredDecision>, StoreError> {
    let rows: Vec<DecisionRow> = sqlx::query_as(
        "SELECT approver, decision, reason, binding, at FROM decisions WHERE call_id = ? ORDER BY at, approver",
    )
    .bind(id.to_string())
    .fetch_all(readers)
    .await?;
    all(rows)
}

pub(super) async fn decide(write: &mut Write, new: NewDecision) -> Result<Decided, StoreError> {
    let NewDecision { call, at, .. } = new;
    let is: String = sqlx::query_scalar("SELECT state FROM calls WHERE id = ?")
        .bind(call.to_string())
        .fetch_one(&mut *write.tx)
        .await?;
    let is = state(&is)?;
    if is != State::Pending {
        return Ok(Decided::NotWaiting(is));
    }
    let decision = &new.decision;
    let stored = sqlx::query(
        "INSERT INTO decisions (call_id, approver, decision, reason, binding, at)
         VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    )
    .bind(call.to_string())
    .bind(&decision.approver)
    .bind(decision.word())
    .bind(&decision.reason)
    .bind(decision.binding.to_string())
    .bind(at.to_string())
    .execute(&mut *write.tx)
    .await?;
    if stored.rows_affected() != 1 {
        return Ok(Decided::Twice);
    }
    let approvals = sqlx::query_scalar(
        "SELECT count(*) FROM decisions WHERE call_id = ? AND decision = 'approved'",
    )
    .bind(call.to_string())
    .fetch_one(&mut *write.tx)
    .await?;
    let (kind, reason) = new.leads_to(approvals);
    let entry = Entry {
        at,
        kind,
        body: new.body.clone(),
    };
    let Some(to) = after(Some(State::Pending), kind) else {
        write.append(entry).await?;
        return Ok(Decided::Stored(State::Pending));
    };
    step(write, call, State::Pending, reason, entry).await?;
    Ok(Decided::Stored(to))
}
