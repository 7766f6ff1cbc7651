//! Rows as every database has them, and what they are read as: the columns are the same in each, and so is what makes
//! one unreadable.

use actum::Digest;
use actum::gate::SelectionToken;
use jiff::Timestamp;
use sqlx::FromRow;
use ulid::Ulid;

use super::lineage::EndRow;
use super::{
    ArchivedTask, StoreError, StoredCall, StoredDecision, StoredSelection, StoredTask, Waiting,
};
use crate::calls::State;
use crate::ledger::{Broken, Head, Record, verify_next};
use crate::replay::Keyed;

/// [`Counts`](super::Counts). Records are numbered without a gap, and none is ever removed.
pub(super) const COUNTS: &str = "
    SELECT (SELECT count(*) FROM tasks) AS tasks,
           (SELECT count(*) FROM calls) AS calls,
           (SELECT count(*) FROM calls WHERE state = 'pending') AS pending,
           (SELECT count(*) FROM calls WHERE state = 'approved') AS approved,
           (SELECT count(*) FROM calls WHERE state = 'running') AS running,
           (SELECT count(*) FROM calls WHERE state = 'outcome_unknown') AS unknown,
           (SELECT coalesce(max(seq), 0) FROM audit) AS records";

/// Of `tasks`, for those who call.
#[derive(FromRow)]
pub(super) struct TaskRow {
    token_hash: Vec<u8>,
    grant_body: String,
    message: Option<String>,
    revoked: bool,
    ended: bool,
    parent_id: Option<String>,
}

impl TryFrom<TaskRow> for StoredTask {
    type Error = StoreError;

    fn try_from(row: TaskRow) -> Result<Self, StoreError> {
        let hash = row.token_hash.try_into();
        Ok(Self {
            token_hash: hash.map_err(|_| unreadable("a token hash of another length"))?,
            grant: serde_json::from_str(&row.grant_body).map_err(unreadable)?,
            message: row.message,
            revoked: row.revoked,
            ended: row.ended,
            parent: row.parent_id.as_deref().map(ulid).transpose()?,
        })
    }
}

/// Of `tasks`, for those who look back.
#[derive(FromRow)]
pub(super) struct ArchivedTaskRow {
    grant_body: String,
    message: Option<String>,
    expires_at: String,
    revoked_at: Option<String>,
    parent_id: Option<String>,
    #[sqlx(flatten)]
    end: EndRow,
}

impl TryFrom<ArchivedTaskRow> for ArchivedTask {
    type Error = StoreError;

    fn try_from(row: ArchivedTaskRow) -> Result<Self, StoreError> {
        let revoked_at = row.revoked_at.as_deref().map(timestamp);
        Ok(Self {
            grant: serde_json::from_str(&row.grant_body).map_err(unreadable)?,
            message: row.message,
            expires_at: timestamp(&row.expires_at)?,
            revoked_at: revoked_at.transpose()?,
            parent: row.parent_id.as_deref().map(ulid).transpose()?,
            end: row.end.read()?,
        })
    }
}

/// Of `selection_tokens`.
#[derive(FromRow)]
pub(super) struct SelectionRow {
    #[sqlx(rename = "type")]
    token_type: String,
    target: String,
    expires_at: String,
}

impl SelectionRow {
    /// The token of this id.
    pub(super) fn of(self, id: Ulid) -> Result<StoredSelection, StoreError> {
        Ok(StoredSelection {
            token: SelectionToken {
                id,
                token_type: self.token_type,
                expires_at: timestamp(&self.expires_at)?,
            },
            target: self.target,
        })
    }
}

/// Of `calls`, as `call_where!` selects it.
#[derive(FromRow)]
pub(super) struct CallRow {
    id: String,
    task_id: String,
    action: String,
    arguments: String,
    sealed: Option<Vec<u8>>,
    state: String,
    reason: Option<String>,
    resumptions: i64,
    binding: Option<String>,
    expires_at: Option<String>,
    superseded_by: Option<String>,
    result: Option<String>,
    idempotency_key: Option<String>,
    asked: Option<String>,
    created_at: String,
    updated_at: String,
    selection: Option<String>,
    selection_type: Option<String>,
    selection_target: Option<String>,
    selection_expires_at: Option<String>,
}

/// A call with its selection token, if it spent one; a condition on `c` goes on from here.
macro_rules! call_where {
    ($condition:literal) => {
        concat!(
            "SELECT c.*, s.type AS selection_type, s.target AS selection_target,
                 s.expires_at AS selection_expires_at
             FROM calls c LEFT JOIN selection_tokens s ON s.id = c.selection WHERE ",
            $condition
        )
    };
}
pub(super) use call_where;

impl TryFrom<CallRow> for StoredCall {
    type Error = StoreError;

    fn try_from(row: CallRow) -> Result<Self, StoreError> {
        // A column that is not there where another one needs it.
        let missing = || unreadable(format!("the call {} has not all of its columns", row.id));
        let waiting = match row.binding {
            None => None,
            Some(binding) => Some(Waiting {
                binding: digest(&binding)?,
                expires_at: timestamp(&row.expires_at.ok_or_else(missing)?)?,
                instead_of: None,
            }),
        };
        let selection = match row.selection {
            None => None,
            Some(id) => {
                let selected = SelectionRow {
                    token_type: row.selection_type.ok_or_else(missing)?,
                    target: row.selection_target.ok_or_else(missing)?,
                    expires_at: row.selection_expires_at.ok_or_else(missing)?,
                };
                Some(selected.of(ulid(&id)?)?)
            }
        };
        let keyed = match row.idempotency_key {
            None => None,
            Some(key) => Some(Keyed {
                key: digest(&key)?,
                asked: digest(&row.asked.ok_or_else(missing)?)?,
            }),
        };
        let result = row.result.map(|text| serde_json::from_str(&text));
        Ok(Self {
            id: ulid(&row.id)?,
            task_id: ulid(&row.task_id)?,
            action: row.action,
            arguments: row.arguments,
            sealed: row.sealed,
            state: state(&row.state)?,
            reason: row.reason,
            resumptions: row.resumptions.try_into().map_err(unreadable)?,
            superseded_by: row.superseded_by.as_deref().map(ulid).transpose()?,
            waiting,
            selection,
            keyed,
            result: result.transpose().map_err(unreadable)?,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

/// Of `decisions`.
#[derive(FromRow)]
pub(super) struct DecisionRow {
    approver: String,
    decision: String,
    reason: Option<String>,
    binding: String,
    at: String,
}

impl TryFrom<DecisionRow> for StoredDecision {
    type Error = StoreError;

    fn try_from(row: DecisionRow) -> Result<Self, StoreError> {
        Ok(Self {
            approver: row.approver,
            approved: row.decision == "approved",
            reason: row.reason,
            binding: digest(&row.binding)?,
            at: row.at,
        })
    }
}

/// Of `audit`.
#[derive(FromRow)]
pub(super) struct RecordRow {
    seq: i64,
    at: String,
    kind: String,
    body: String,
    prev: String,
    digest: String,
}

impl RecordRow {
    /// The record; what cannot be read as one is not what was written.
    pub(super) fn read(self) -> Result<Record, Broken> {
        let seq = self.seq;
        Record::try_from(self).map_err(|_| Broken::Changed(seq))
    }
}

impl TryFrom<RecordRow> for Record {
    type Error = StoreError;

    fn try_from(row: RecordRow) -> Result<Self, StoreError> {
        Ok(Self {
            seq: row.seq,
            at: row.at,
            kind: row.kind,
            body: serde_json::from_str(&row.body).map_err(unreadable)?,
            prev: digest(&row.prev)?,
            digest: digest(&row.digest)?,
        })
    }
}

/// The end of the ledger.
#[derive(FromRow)]
pub(super) struct HeadRow {
    seq: i64,
    digest: String,
}

impl TryFrom<HeadRow> for Head {
    type Error = StoreError;

    fn try_from(row: HeadRow) -> Result<Self, StoreError> {
        Ok(Self {
            seq: row.seq,
            digest: digest(&row.digest)?,
        })
    }
}

/// Goes on through the ledger, from `head`, over what comes next in it.
pub(super) fn follow(
    mut head: Head,
    page: Vec<RecordRow>,
    each: &mut impl FnMut(&Record),
) -> Result<Head, Broken> {
    for row in page {
        let record = row.read()?;
        head = verify_next(&head, &record)?;
        each(&record);
    }
    Ok(head)
}

/// Rows of one kind, as what they are read as.
pub(super) fn all<R, T: TryFrom<R, Error = StoreError>>(
    rows: Vec<R>,
) -> Result<Vec<T>, StoreError> {
    rows.into_iter().map(T::try_from).collect()
}

fn timestamp(text: &str) -> Result<Timestamp, StoreError> {
    text.parse().map_err(|error: jiff::Error| unreadable(error))
}

pub(super) fn digest(text: &str) -> Result<Digest, StoreError> {
    Digest::parse(text).ok_or_else(|| unreadable(format!("no digest: {text:?}")))
}

pub(super) fn ulid(text: &str) -> Result<Ulid, StoreError> {
    Ulid::from_string(text).map_err(unreadable)
}

pub(super) fn state(text: &str) -> Result<State, StoreError> {
    State::of(text).ok_or_else(|| unreadable(format!("no state: {text:?}")))
}

pub(super) fn unreadable(error: impl std::fmt::Display) -> StoreError {
    StoreError::Unreadable(error.to_string())
}
