//! Calls: how they begin, what is decided on them, and how they end, each within one transaction.

use actum::gate::{DenialReason, SelectionToken};
use async_trait::async_trait;
use sqlx::Row;
use sqlx::postgres::{PgPool, PgRow};
use ulid::Ulid;

use super::change::{Applied, Change, Write};
use super::rows::{digest, timestamp, unreadable};
use crate::calls::{State, after};
use crate::ledger::{Entry, Kind};
use crate::store::{
    Decided, NewCall, NewDecision, Outcome, StoreError, StoredCall, StoredDecision,
    StoredSelection, Waiting,
};

use Applied::{Changed, Unchanged};

/// A call with its selection token, if it spent one.
macro_rules! call_where {
    ($rest:literal) => {
        concat!(
            "SELECT c.*, s.type AS selection_type, s.target AS selection_target,
                 s.expires_at AS selection_expires_at
             FROM calls c LEFT JOIN selection_tokens s ON s.id = c.selection WHERE ",
            $rest
        )
    };
}

/// Stores a call as running, or as waiting for approval, and spends its selection token; or says why not.
pub(super) struct Begin {
    pub(super) call: NewCall,
    /// What it waits with, if it waits.
    pub(super) waiting: Option<Waiting>,
    pub(super) kernel: Ulid,
}

#[async_trait]
impl Change for Begin {
    type Done = Option<DenialReason>;

    async fn apply(&self, write: &mut Write) -> Result<Applied<Self::Done>, StoreError> {
        let call = &self.call;
        let waiting = self.waiting.as_ref();
        let instead_of = waiting.and_then(|waiting| waiting.instead_of.as_ref());
        // Between the gate's look and this transaction another call may have spent the token, or
        // the owner taken the task back, at this kernel or another.
        let live = sqlx::query("SELECT 1 FROM tasks WHERE id = $1 AND revoked_at IS NULL")
            .bind(call.task_id.to_string())
            .fetch_optional(&mut *write.tx)
            .await?;
        if live.is_none() {
            return Ok(Unchanged(Some(DenialReason::GrantExpired)));
        }
        let state = match waiting {
            Some(_) => State::Pending,
            None => State::Running,
        };
        sqlx::query(
            "INSERT INTO calls (id, task_id, action, arguments, sealed, state, binding, selection, expires_at,
                 kernel, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)",
        )
        .bind(call.id.to_string())
        .bind(call.task_id.to_string())
        .bind(call.action.as_str())
        .bind(&call.arguments)
        .bind(waiting.and_then(|waiting| waiting.sealed.clone()))
        .bind(state.as_str())
        .bind(waiting.map(|waiting| waiting.binding.to_string()))
        .bind(call.spends.map(|token| token.to_string()))
        .bind(waiting.map(|waiting| waiting.expires_at.to_string()))
        .bind(self.kernel.to_string())
        .bind(call.entry.at.to_string())
        .execute(&mut *write.tx)
        .await?;
        if let Some(token) = call.spends {
            let spent = sqlx::query(
                "UPDATE selection_tokens SET spent_by = $1
                 WHERE id = $2 AND task_id = $3 AND (spent_by IS NULL OR spent_by = $4)",
            )
            .bind(call.id.to_string())
            .bind(token.to_string())
            .bind(call.task_id.to_string())
            // A call takes over the token of the one whose place it takes.
            .bind(instead_of.map(|(old, _)| old.to_string()))
            .execute(&mut *write.tx)
            .await?;
            if spent.rows_affected() != 1 {
                return Ok(Unchanged(Some(DenialReason::SelectionTokenInvalid)));
            }
        }
        if let Some((old, entry)) = instead_of {
            if !step(write, *old, State::Pending, Some("edited"), None, entry).await? {
                return Ok(Unchanged(Some(DenialReason::ApprovalMissing)));
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
async fn step(
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
    // A call that has begun or ended has no use for what was kept for its beginning.
    .bind(to == State::Running || to.is_final())
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
    /// The kernel that runs it from now on, if its task was not taken back.
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

async fn is_of_live_task(write: &mut Write, call: Ulid) -> Result<bool, StoreError> {
    let live = sqlx::query(
        "SELECT 1 FROM calls c JOIN tasks t ON t.id = c.task_id
         WHERE c.id = $1 AND t.revoked_at IS NULL",
    )
    .bind(call.to_string())
    .fetch_optional(&mut *write.tx)
    .await?;
    Ok(live.is_some())
}

/// Ends a running call.
pub(super) struct Finish {
    id: Ulid,
    /// Its result, as JSON, redacted.
    result: Option<String>,
    entry: Entry,
}

impl Finish {
    pub(super) fn new(id: Ulid, outcome: Outcome, entry: Entry) -> Result<Self, StoreError> {
        let kind = outcome.kind();
        let result = match outcome {
            Outcome::Succeeded(result) => Some(serde_json::to_string(&result).map_err(unreadable)?),
            Outcome::Failed | Outcome::Unknown => None,
        };
        Ok(Self {
            id,
            result,
            entry: Entry { kind, ..entry },
        })
    }
}

#[async_trait]
impl Change for Finish {
    type Done = ();

    async fn apply(&self, write: &mut Write) -> Result<Applied<()>, StoreError> {
        if !step(write, self.id, State::Running, None, None, &self.entry).await? {
            return Err(unreadable(format!("the call {} is not running", self.id)));
        }
        sqlx::query("UPDATE calls SET result = $1 WHERE id = $2")
            .bind(&self.result)
            .bind(self.id.to_string())
            .execute(&mut *write.tx)
            .await?;
        Ok(Changed(()))
    }
}

/// Stores a decision on a waiting call, and takes the call on.
pub(super) struct Decide(pub(super) NewDecision);

#[async_trait]
impl Change for Decide {
    type Done = Decided;

    async fn apply(&self, write: &mut Write) -> Result<Applied<Decided>, StoreError> {
        let NewDecision {
            call,
            decision,
            quorum,
            at,
            body,
        } = &self.0;
        let row = sqlx::query("SELECT state FROM calls WHERE id = $1")
            .bind(call.to_string())
            .fetch_one(&mut *write.tx)
            .await?;
        let state = state_of(&row)?;
        if state != State::Pending {
            return Ok(Unchanged(Decided::NotWaiting(state)));
        }
        let word = match decision.approved {
            true => "approved",
            false => "rejected",
        };
        let stored = sqlx::query(
            "INSERT INTO decisions (call_id, approver, decision, reason, binding, at)
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
        )
        .bind(call.to_string())
        .bind(&decision.approver)
        .bind(word)
        .bind(&decision.reason)
        .bind(decision.binding.to_string())
        .bind(at.to_string())
        .execute(&mut *write.tx)
        .await?;
        if stored.rows_affected() != 1 {
            return Ok(Unchanged(Decided::Twice));
        }
        let approvals: i64 = sqlx::query(
            "SELECT count(*) AS n FROM decisions WHERE call_id = $1 AND decision = 'approved'",
        )
        .bind(call.to_string())
        .fetch_one(&mut *write.tx)
        .await?
        .try_get("n")?;
        let kind = match decision.approved {
            false => Kind::CallRejected,
            true if approvals >= i64::from(*quorum) => Kind::CallApproved,
            true => Kind::CallEndorsed,
        };
        let entry = Entry {
            at: *at,
            kind,
            body: body.clone(),
        };
        let Some(to) = after(Some(State::Pending), kind) else {
            write.append(&entry).await?;
            return Ok(Changed(Decided::Stored(State::Pending)));
        };
        let reason = match decision.approved {
            true => None,
            false => Some(decision.reason.as_deref().unwrap_or("rejected")),
        };
        step(write, *call, State::Pending, reason, None, &entry).await?;
        Ok(Changed(Decided::Stored(to)))
    }
}

pub(super) async fn get(pool: &PgPool, id: Ulid) -> Result<Option<StoredCall>, StoreError> {
    let row = sqlx::query(call_where!("c.id = $1"))
        .bind(id.to_string())
        .fetch_optional(pool)
        .await?;
    row.as_ref().map(call).transpose()
}

pub(super) async fn in_state(
    pool: &PgPool,
    state: State,
    limit: i64,
) -> Result<Vec<StoredCall>, StoreError> {
    let rows = sqlx::query(call_where!("c.state = $1 ORDER BY c.id LIMIT $2"))
        .bind(state.as_str())
        .bind(limit)
        .fetch_all(pool)
        .await?;
    rows.iter().map(call).collect()
}

pub(super) async fn decisions(pool: &PgPool, id: Ulid) -> Result<Vec<StoredDecision>, StoreError> {
    let rows = sqlx::query(
        "SELECT approver, decision, reason, binding, at FROM decisions
         WHERE call_id = $1 ORDER BY at, approver",
    )
    .bind(id.to_string())
    .fetch_all(pool)
    .await?;
    rows.iter()
        .map(|row| {
            Ok(StoredDecision {
                approver: row.try_get("approver")?,
                approved: row.try_get::<String, _>("decision")? == "approved",
                reason: row.try_get("reason")?,
                binding: digest(row, "binding")?,
                at: row.try_get("at")?,
            })
        })
        .collect()
}

fn state_of(row: &PgRow) -> Result<State, StoreError> {
    let state: String = row.try_get("state")?;
    State::of(&state).ok_or_else(|| unreadable(format!("no state: {state:?}")))
}

fn call(row: &PgRow) -> Result<StoredCall, StoreError> {
    let result: Option<String> = row.try_get("result")?;
    let binding: Option<String> = row.try_get("binding")?;
    let waiting = match binding {
        None => None,
        Some(_) => Some(Waiting {
            sealed: row.try_get("sealed")?,
            binding: digest(row, "binding")?,
            expires_at: timestamp(row, "expires_at")?,
            instead_of: None,
        }),
    };
    let selection = match ulid(row, "selection")? {
        None => None,
        Some(id) => Some(StoredSelection {
            token: SelectionToken {
                id,
                token_type: row.try_get("selection_type")?,
                expires_at: timestamp(row, "selection_expires_at")?,
            },
            target: row.try_get("selection_target")?,
        }),
    };
    let required = |column| -> Result<Ulid, StoreError> {
        ulid(row, column)?.ok_or_else(|| unreadable("a call without its ids"))
    };
    Ok(StoredCall {
        id: required("id")?,
        task_id: required("task_id")?,
        action: row.try_get("action")?,
        arguments: row.try_get("arguments")?,
        state: state_of(row)?,
        reason: row.try_get("reason")?,
        superseded_by: ulid(row, "superseded_by")?,
        waiting,
        selection,
        result: result
            .map(|text| serde_json::from_str(&text))
            .transpose()
            .map_err(unreadable)?,
        created_at: row.try_get("created_at")?,
    })
}

fn ulid(row: &PgRow, column: &str) -> Result<Option<Ulid>, StoreError> {
    let text: Option<String> = row.try_get(column)?;
    text.map(|text| Ulid::from_string(&text).map_err(unreadable))
        .transpose()
}
