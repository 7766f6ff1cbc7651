//! Calls: how they begin, what is decided on them, and how they end, each within one transaction.

use actum::Digest;
use actum::gate::DenialReason;
use async_trait::async_trait;
use sqlx::postgres::{PgExecutor, PgPool};
use ulid::Ulid;

use super::change::{Applied, Change, Write};
use crate::calls::{State, after};
use crate::ledger::Entry;
use crate::store::lineage::Tables as _;
use crate::store::rows::{CallRow, DecisionRow, all, call_where, state, unreadable};
use crate::store::{
    Decided, NewCall, NewDecision, NotBegun, Outcome, StoreError, StoredCall, StoredDecision,
    Waiting,
};

use Applied::{Changed, Unchanged};

/// Stores a call as running, or as waiting for approval, and spends its selection token; or says why not.
pub(super) struct Begin {
    pub(super) call: NewCall,
    /// What it waits with, if it waits.
    pub(super) waiting: Option<Waiting>,
    pub(super) kernel: Ulid,
}

#[async_trait]
impl Change for Begin {
    type Done = Option<NotBegun>;

    async fn apply(&self, write: &mut Write) -> Result<Applied<Self::Done>, StoreError> {
        let call = &self.call;
        let refused = |reason| Ok(Unchanged(Some(NotBegun::Refused(reason))));
        let waiting = self.waiting.as_ref();
        let instead_of = waiting.and_then(|waiting| waiting.instead_of.as_ref());
        // Between the gate's look and this transaction another call may have spent the token, or
        // the task be over, at this kernel or another.
        if !write.tx.is_live(call.task_id).await? {
            return refused(DenialReason::GrantExpired);
        }
        if let Some(keyed) = call.keyed
            && let Some(first) = of_key(&mut *write.tx, call.task_id, keyed.key).await?
        {
            return Ok(Unchanged(Some(NotBegun::Again(first.id))));
        }
        // A call that takes the place of another one was counted with it.
        if instead_of.is_none() && !write.tx.count(call).await? {
            return refused(DenialReason::LimitReached);
        }
        let state = match waiting {
            Some(_) => State::Pending,
            None => State::Running,
        };
        sqlx::query(
            "INSERT INTO calls (id, task_id, action, arguments, sealed, state, binding, selection, expires_at,
                 kernel, created_at, updated_at, idempotency_key, asked)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13)",
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
        .bind(self.kernel.to_string())
        .bind(call.entry.at.to_string())
        .bind(call.keyed.map(|keyed| keyed.key.to_string()))
        .bind(call.keyed.map(|keyed| keyed.asked.to_string()))
        .execute(&mut *write.tx)
        .await?;
        if let Some(token) = call.spends {
            // A call takes over the token of the one whose place it takes.
            let old = instead_of.map(|(old, _)| *old);
            if !write.tx.spend(call, token, old).await? {
                return refused(DenialReason::SelectionTokenInvalid);
            }
        }
        if let Some((old, entry)) = instead_of {
            if !step(write, *old, State::Pending, Some("edited"), None, entry).await? {
                return refused(DenialReason::ApprovalMissing);
            }
            sqlx::query("UPDATE calls SET superseded_by = $1 WHERE id = $2")
                .bind(call.id.to_string())
                .bind(old.to_string())
                .execute(&mut *write.tx)
                .await?;
        }
        write.append(&call.entry).await?;
        Ok(Changed(None))
    }
}

/// Takes a call from a state to where the record takes it, with the record; whether it was there.
pub(super) async fn step(
    write: &mut Write,
    id: Ulid,
    from: State,
    reason: Option<&str>,
    kernel: Option<Ulid>,
    entry: &Entry,
) -> Result<bool, StoreError> {
    let to = after(Some(from), entry.kind).ok_or_else(|| {
        unreadable(format!(
            "a call is not taken on from `{}` by `{}`",
            from.as_str(),
            entry.kind.as_str()
        ))
    })?;
    let done = sqlx::query(
        "UPDATE calls SET state = $1, reason = coalesce($2, reason), kernel = coalesce($3, kernel),
             updated_at = $4, sealed = CASE WHEN $5 THEN NULL ELSE sealed END
         WHERE id = $6 AND state = $7",
    )
    .bind(to.as_str())
    .bind(reason)
    .bind(kernel.map(|kernel| kernel.to_string()))
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

/// Takes a call on, if it is where it is to be taken on from.
pub(super) struct TakeOn<'a> {
    pub(super) id: Ulid,
    pub(super) from: State,
    pub(super) reason: Option<&'a str>,
    /// The kernel that runs it from now on, if its task is not over.
    pub(super) kernel: Option<Ulid>,
    pub(super) entry: Entry,
}

#[async_trait]
impl Change for TakeOn<'_> {
    type Done = bool;

    async fn apply(&self, write: &mut Write) -> Result<Applied<bool>, StoreError> {
        let Self {
            id,
            from,
            reason,
            kernel,
            entry,
        } = self;
        if kernel.is_some() && !is_of_live_task(write, *id).await? {
            return Ok(Unchanged(false));
        }
        Ok(
            match step(write, *id, *from, *reason, *kernel, entry).await? {
                true => Changed(true),
                false => Unchanged(false),
            },
        )
    }
}

pub(super) async fn is_of_live_task(write: &mut Write, call: Ulid) -> Result<bool, StoreError> {
    let live = sqlx::query(
        "SELECT 1 FROM calls c JOIN tasks t ON t.id = c.task_id
         WHERE c.id = $1 AND t.revoked_at IS NULL AND t.ended_at IS NULL",
    )
    .bind(call.to_string())
    .fetch_optional(&mut *write.tx)
    .await?;
    Ok(live.is_some())
}

/// Ends a call that this kernel runs.
pub(super) struct Finish {
    id: Ulid,
    kernel: Ulid,
    /// Its result, as JSON, redacted.
    result: Option<String>,
    /// Why it is no success, in one word.
    reason: Option<&'static str>,
    entry: Entry,
}

impl Finish {
    pub(super) fn new(
        id: Ulid,
        kernel: Ulid,
        outcome: Outcome,
        entry: Entry,
    ) -> Result<Self, StoreError> {
        let (kind, reason) = (outcome.kind(), outcome.reason());
        let result = outcome.result()?;
        Ok(Self {
            id,
            kernel,
            result,
            reason,
            entry: Entry { kind, ..entry },
        })
    }
}

#[async_trait]
impl Change for Finish {
    type Done = ();

    async fn apply(&self, write: &mut Write) -> Result<Applied<()>, StoreError> {
        let Self { id, reason, .. } = self;
        let not_running = || unreadable(format!("the call {id} is not running here"));
        if !step(write, *id, State::Running, *reason, None, &self.entry).await? {
            return Err(not_running());
        }
        // A kernel that was taken for gone may have lost the call to another one, which runs it now.
        let ended = sqlx::query("UPDATE calls SET result = $1 WHERE id = $2 AND kernel = $3")
            .bind(&self.result)
            .bind(id.to_string())
            .bind(self.kernel.to_string())
            .execute(&mut *write.tx)
            .await?;
        match ended.rows_affected() {
            1 => Ok(Changed(())),
            _ => Err(not_running()),
        }
    }
}

/// Stores a decision on a waiting call, and takes the call on.
pub(super) struct Decide(pub(super) NewDecision);

#[async_trait]
impl Change for Decide {
    type Done = Decided;

    async fn apply(&self, write: &mut Write) -> Result<Applied<Decided>, StoreError> {
        let new = &self.0;
        let (call, decision) = (new.call, &new.decision);
        let is: String = sqlx::query_scalar("SELECT state FROM calls WHERE id = $1")
            .bind(call.to_string())
            .fetch_one(&mut *write.tx)
            .await?;
        let is = state(&is)?;
        if is != State::Pending {
            return Ok(Unchanged(Decided::NotWaiting(is)));
        }
        let stored = sqlx::query(
            "INSERT INTO decisions (call_id, approver, decision, reason, binding, at)
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
        )
        .bind(call.to_string())
        .bind(&decision.approver)
        .bind(decision.word())
        .bind(&decision.reason)
        .bind(decision.binding.to_string())
        .bind(new.at.to_string())
        .execute(&mut *write.tx)
        .await?;
        if stored.rows_affected() != 1 {
            return Ok(Unchanged(Decided::Twice));
        }
        let approvals = sqlx::query_scalar(
            "SELECT count(*) FROM decisions WHERE call_id = $1 AND decision = 'approved'",
        )
        .bind(call.to_string())
        .fetch_one(&mut *write.tx)
        .await?;
        let (kind, reason) = new.leads_to(approvals);
        let entry = Entry {
            at: new.at,
            kind,
            body: new.body.clone(),
        };
        let Some(to) = after(Some(State::Pending), kind) else {
            write.append(&entry).await?;
            return Ok(Changed(Decided::Stored(State::Pending)));
        };
        step(write, call, State::Pending, reason, None, &entry).await?;
        Ok(Changed(Decided::Stored(to)))
    }
}

pub(super) async fn get(pool: &PgPool, id: Ulid) -> Result<Option<StoredCall>, StoreError> {
    let row: Option<CallRow> = sqlx::query_as(call_where!("c.id = $1"))
        .bind(id.to_string())
        .fetch_optional(pool)
        .await?;
    row.map(StoredCall::try_from).transpose()
}

/// The call of a task that came with this key.
pub(super) async fn of_key(
    reader: impl PgExecutor<'_>,
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

pub(super) async fn in_state(
    pool: &PgPool,
    state: State,
    limit: i64,
) -> Result<Vec<StoredCall>, StoreError> {
    let rows: Vec<CallRow> = sqlx::query_as(call_where!("c.state = $1 ORDER BY c.id LIMIT $2"))
        .bind(state.as_str())
        .bind(limit)
        .fetch_all(pool)
        .await?;
    all(rows)
}

pub(super) async fn of_action(
    pool: &PgPool,
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
    .fetch_all(pool)
    .await?;
    all(rows)
}

pub(super) async fn decisions(pool: &PgPool, id: Ulid) -> Result<Vec<StoredDecision>, StoreError> {
    let rows: Vec<DecisionRow> = sqlx::query_as(
        "SELECT approver, decision, reason, binding, at FROM decisions
         WHERE call_id = $1 ORDER BY at, approver",
    )
    .bind(id.to_string())
    .fetch_all(pool)
    .await?;
    all(rows)
}
