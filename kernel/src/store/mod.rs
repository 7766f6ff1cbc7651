//! What must outlive the process: tasks, selection tokens, calls, the owner's messages, the ledger.
//!
//! One trait, one implementation for each database, one suite of tests for all of them. Each method
//! that changes something is one transaction together with its ledger record, durable when it
//! returns: nothing takes effect unrecorded.

mod archive;
mod artifacts;
mod in_hand;
mod ledger;
mod lineage;
mod postgres;
mod rows;
mod sqlite;

use actum::authority::{Limits, ManifestKind};
use actum::gate::{DenialReason, SelectionToken};
use actum::redact::Confidential;
use actum::registry::Admitted;
use actum::{ActionId, Digest, SealedGrant};
use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;
use ulid::Ulid;

use crate::calls::State;
use crate::ledger::{Entry, Head, Kind, Record};
use crate::replay::Keyed;

pub use archive::Archive;
pub use artifacts::{ActiveArtifacts, ArtifactState, NewArtifact, Revocation, StoredArtifact};
pub use lineage::{CommissionedTask, NewReport, Takes, TaskEnd, TaskOutcome};
pub use postgres::{PostgresArchive, PostgresStore};
pub use sqlite::{ArchivedCall, ArchivedTask, SqliteArchive, SqliteStore, verify_file};

/// Why the store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database said so.
    #[error("the store failed: {0}")]
    Database(#[from] sqlx::Error),
    /// It had no time, or its database was away; nothing was changed.
    #[error("the store had no time for this; nothing was changed")]
    Busy,
    /// Its database was lost while it committed, and could not be asked since.
    #[error(
        "the store's database was lost in a commit, so that nobody knows whether it was made: {0}"
    )]
    OutcomeUnknown(#[source] sqlx::Error),
    /// It could not commit, as on a full disk; nothing was changed.
    #[error("the store could not commit, and nothing was changed: {0}; see to its disk")]
    NotCommitted(String),
    /// Its disk could not flush what was committed.
    #[error(
        "the store's disk failed to flush ({0}), so that nobody knows what is on it, and nothing is recorded any more; see to the disk, then start the kernel again"
    )]
    FlushFailed(String),
    /// What is stored there is not what this version writes.
    #[error("the store holds something unreadable: {0}")]
    Unreadable(String),
    /// The store's folder or file cannot be used.
    #[error("{path}: {problem}")]
    Unusable {
        /// The file.
        path: String,
        /// What is wrong, and how to mend it.
        problem: String,
    },
    /// What other kernels put in force is faulty together with this kernel's own manifests.
    #[error(
        "artifacts that another kernel put in force do not fit the manifests here, so nothing is decided by those of before; make the kernels' manifests equal, and `actum reload`:\n{0}"
    )]
    Misfit(String),
    /// A ledger record that no entry bundle has room for.
    #[error("a ledger record of {0} bytes is too long; the longest has 65535")]
    RecordTooLong(usize),
    /// A value that has no canonical JSON.
    #[error(transparent)]
    NotCanonical(#[from] actum::digest::NotCanonical),
}

/// A task to be stored.
#[derive(Debug)]
pub struct NewTask<'a> {
    /// Its id.
    pub id: Ulid,
    /// SHA-256 of its token's secret.
    pub token_hash: [u8; 32],
    /// Its grant.
    pub grant: &'a SealedGrant,
    /// What the event's sender wrote.
    pub message: Option<&'a str>,
    /// When its grant is over.
    pub expires_at: Timestamp,
    /// The most that it and all below it may do.
    pub limits: Limits,
    /// The catalog that it was issued under, by digest, as canonical JSON.
    pub catalog: (Digest, &'a str),
    /// What it is shown of the catalog and why no more, by digest, as canonical JSON.
    pub exposures: (Digest, &'a str),
    /// The selection tokens minted for it.
    pub selections: &'a [NewSelection],
}

/// A selection token to be stored.
#[derive(Debug, Clone)]
pub struct NewSelection {
    /// Its id.
    pub id: Ulid,
    /// Its type.
    pub token_type: String,
    /// What the owner selected.
    pub target: String,
    /// When it is void.
    pub expires_at: Timestamp,
}

/// A task as it is stored.
#[derive(Debug)]
pub struct StoredTask {
    /// SHA-256 of its token's secret.
    pub token_hash: [u8; 32],
    /// Its grant.
    pub grant: SealedGrant,
    /// What the event's sender wrote.
    pub message: Option<String>,
    /// Whether it was taken back.
    pub revoked: bool,
    /// Whether its worker reported its end.
    pub ended: bool,
    /// The task that commissioned it.
    pub parent: Option<Ulid>,
}

impl StoredTask {
    /// Whether its token has stopped working, its grant's expiry aside.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.revoked || self.ended
    }
}

/// A selection token as it is stored, unspent.
#[derive(Debug, Clone)]
pub struct StoredSelection {
    /// What the gate looks at.
    pub token: SelectionToken,
    /// What the owner selected.
    pub target: String,
}

/// A call to be stored.
#[derive(Debug, Clone)]
pub struct NewCall {
    /// Its id.
    pub id: Ulid,
    /// Its task.
    pub task_id: Ulid,
    /// The action.
    pub action: ActionId,
    /// Its arguments as they may be looked at, as canonical JSON.
    pub arguments: String,
    /// The arguments as they came, encrypted, where something of them is hidden and they are needed again. They are
    /// gone when the call ends.
    pub sealed: Option<Vec<u8>>,
    /// The selection token that it spends.
    pub spends: Option<Ulid>,
    /// The idempotency key that it came with.
    pub keyed: Option<Keyed>,
    /// What it takes of the limits of its lineage.
    pub takes: Takes,
    /// Its record.
    pub entry: Entry,
}

/// Leave to run, once the decision is durable. INVARIANT: only a store makes one, and only
/// [`Recorded::into_admitted`] gives the call that can be run; so nothing runs unrecorded.
#[derive(Debug)]
pub struct Recorded(Admitted);

impl Recorded {
    /// The call that may now be run.
    #[must_use]
    pub fn into_admitted(self) -> Admitted {
        self.0
    }
}

/// What became of a call to be started.
#[derive(Debug)]
pub enum Started {
    /// It is recorded and may run.
    Recorded(Recorded),
    /// It did not begin.
    Not(NotBegun),
}

/// Why a call did not begin, though the gate let it: what happened since the gate looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotBegun {
    /// Another call spent its selection token, the task is over, another kernel runs the call, or a limit of its
    /// lineage is reached.
    Refused(DenialReason),
    /// This call was asked for under its idempotency key before it.
    Again(Ulid),
}

/// How a call ended.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// With a result, of which a store can only ever write the redacted form.
    Succeeded(Confidential),
    /// With an error, told in one word.
    Failed(&'static str),
    /// Nobody knows; why, in one word.
    Unknown(&'static str),
}

impl Outcome {
    /// Its result as it is stored: JSON, in its redacted form.
    fn result(&self) -> Result<Option<String>, StoreError> {
        match self {
            Self::Succeeded(result) => serde_json::to_string(result)
                .map(Some)
                .map_err(|error| StoreError::Unreadable(error.to_string())),
            Self::Failed(_) | Self::Unknown(_) => Ok(None),
        }
    }

    /// Why it is no success, in one word.
    const fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Failed(reason) | Self::Unknown(reason) => Some(reason),
            Self::Succeeded(_) => None,
        }
    }

    /// The kind of the record that is written with it.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Succeeded(_) => Kind::CallSucceeded,
            Self::Failed(_) => Kind::CallFailed,
            Self::Unknown(_) => Kind::CallOutcomeUnknown,
        }
    }
}

/// What a call that waits for approval is stored with besides.
#[derive(Debug, Clone)]
pub struct Waiting {
    /// The digest of all that a decision is bound to.
    pub binding: Digest,
    /// Void from this instant on.
    pub expires_at: Timestamp,
    /// The call that this one takes the place of, which is rejected with it.
    pub instead_of: Option<(Ulid, Entry)>,
}

/// A call as it is stored.
#[derive(Debug, Clone)]
pub struct StoredCall {
    /// Its id.
    pub id: Ulid,
    /// Its task.
    pub task_id: Ulid,
    /// The action.
    pub action: String,
    /// Its arguments as they may be looked at, as canonical JSON.
    pub arguments: String,
    /// The arguments as they came, encrypted, as long as they are kept.
    pub sealed: Option<Vec<u8>>,
    /// Its state.
    pub state: State,
    /// Why it was rejected or refused, has failed or is of unknown outcome, or what a person said who settled it.
    pub reason: Option<String>,
    /// How often it was resumed after it was cut off.
    pub resumptions: u32,
    /// The call that took its place.
    pub superseded_by: Option<Ulid>,
    /// What it is stored with as it waits for approval.
    pub waiting: Option<Waiting>,
    /// The selection token that it spent.
    pub selection: Option<StoredSelection>,
    /// The idempotency key that it came with.
    pub keyed: Option<Keyed>,
    /// Its result, as JSON.
    pub result: Option<Value>,
    /// When it was asked for, RFC 3339 UTC.
    pub created_at: String,
    /// When it came to stand where it stands, RFC 3339 UTC.
    pub updated_at: String,
}

/// One approver's decision on a call.
#[derive(
    Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
pub struct StoredDecision {
    /// Who.
    pub approver: String,
    /// Whether it may run.
    pub approved: bool,
    /// Why, in the approver's words.
    pub reason: Option<String>,
    /// The digest of what the approver saw.
    #[schemars(with = "crate::openapi::forms::Sha256")]
    pub binding: Digest,
    /// When, RFC 3339 UTC.
    pub at: String,
}

/// A decision to be stored.
#[derive(Debug, Clone)]
pub struct NewDecision {
    /// The call.
    pub call: Ulid,
    /// The decision; its time is that of the record.
    pub decision: StoredDecision,
    /// How many have to approve.
    pub quorum: u32,
    /// When it is made.
    pub at: Timestamp,
    /// The record's body.
    pub body: Value,
}

impl NewDecision {
    /// The kind of its record, and why the call is where that takes it, when so many approve with it.
    fn leads_to(&self, approvals: i64) -> (Kind, Option<&str>) {
        match self.decision.approved {
            false => {
                let why = self.decision.reason.as_deref();
                (Kind::CallRejected, Some(why.unwrap_or("rejected")))
            }
            true if approvals >= i64::from(self.quorum) => (Kind::CallApproved, None),
            true => (Kind::CallEndorsed, None),
        }
    }
}

impl StoredDecision {
    /// The decision as it is stored.
    const fn word(&self) -> &'static str {
        match self.approved {
            true => "approved",
            false => "rejected",
        }
    }
}

/// What became of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decided {
    /// It is stored, and the call stands here now.
    Stored(State),
    /// The call does not wait any more; it stands here.
    NotWaiting(State),
    /// This approver has decided on it before.
    Twice,
}

/// A message to the owner's device.
#[derive(
    Debug, Clone, serde::Serialize, serde::Deserialize, sqlx::FromRow, schemars::JsonSchema,
)]
pub struct Message {
    /// Its place, from 1.
    pub seq: i64,
    /// When it was written, RFC 3339 UTC.
    pub at: String,
    /// The task that it belongs to.
    pub task_id: String,
    /// The principal whose task it is.
    pub sender: String,
    /// The text, untrusted.
    pub body: String,
}

/// How much there is of everything.
#[derive(Debug, Clone, Copy, Default, sqlx::FromRow)]
pub struct Counts {
    /// Tasks issued.
    pub tasks: i64,
    /// Calls that began or waited.
    pub calls: i64,
    /// Calls that wait for approval.
    pub pending: i64,
    /// Calls that were approved and have not begun.
    pub approved: i64,
    /// Calls whose handler may run.
    pub running: i64,
    /// Calls of unknown outcome, which nobody has settled.
    pub unknown: i64,
    /// Ledger records.
    pub records: i64,
}

/// A store.
#[async_trait]
pub trait Store: std::fmt::Debug + Send + Sync + 'static {
    /// Its kind, for people: `sqlite` or `postgres`.
    fn kind(&self) -> &'static str;

    /// Whether other kernels write to it, too.
    fn is_shared(&self) -> bool;

    /// Stores a task, its catalog and its selection tokens.
    async fn issue(&self, task: NewTask<'_>, entry: Entry) -> Result<(), StoreError>;

    /// A task.
    async fn task(&self, id: Ulid) -> Result<Option<StoredTask>, StoreError>;

    /// Whether a task that was there is still not over. A store of one kernel says yes without looking: that
    /// kernel forgets what it ends. One that others write to, too, looks each time.
    async fn is_still_live(&self, id: Ulid) -> Result<bool, StoreError>;

    /// Stores a task that another one commissioned, unless that one is over; whether it is stored.
    async fn commission(
        &self,
        parent: Ulid,
        task: NewTask<'_>,
        entry: Entry,
    ) -> Result<bool, StoreError>;

    /// The newest tasks that a task commissioned, oldest first.
    async fn commissioned(
        &self,
        task: Ulid,
        limit: i64,
    ) -> Result<Vec<CommissionedTask>, StoreError>;

    /// Takes a task back with all that descend from it, each with a record. Those that were not over before, which
    /// are none if the task was.
    async fn revoke(&self, id: Ulid, entry: Entry) -> Result<Vec<Ulid>, StoreError>;

    /// Ends a task by its worker's report, once, and takes back all that descend from it. Those, or `None` if the
    /// task was over before.
    async fn end(&self, report: NewReport) -> Result<Option<Vec<Ulid>>, StoreError>;

    /// An unspent selection token of a task, or of one that it descends from.
    async fn selection(
        &self,
        id: Ulid,
        task_id: Ulid,
    ) -> Result<Option<StoredSelection>, StoreError>;

    /// Starts an admitted call: spends its selection token and stores it as running.
    async fn start(&self, admitted: Admitted, call: NewCall) -> Result<Started, StoreError>;

    /// Stores a call that waits for approval, and spends its selection token; `None` when it is stored.
    async fn hold(&self, call: NewCall, waiting: Waiting) -> Result<Option<NotBegun>, StoreError>;

    /// The calls in a state, oldest first.
    async fn calls_in(&self, state: State, limit: i64) -> Result<Vec<StoredCall>, StoreError>;

    /// The calls of an action that are newer than one, the newest first.
    async fn calls_of(
        &self,
        action: &str,
        after: Ulid,
        limit: i64,
    ) -> Result<Vec<StoredCall>, StoreError>;

    /// The decisions on a call, oldest first.
    async fn decisions(&self, call: Ulid) -> Result<Vec<StoredDecision>, StoreError>;

    /// Stores a decision on a waiting call, and takes the call on: a rejection at once, an approval when it
    /// is the last that was missing.
    async fn decide(&self, decision: NewDecision) -> Result<Decided, StoreError>;

    /// Takes a call from a state to where the record's kind takes it; whether it was there.
    async fn step(
        &self,
        call: Ulid,
        from: State,
        reason: &str,
        entry: Entry,
    ) -> Result<bool, StoreError>;

    /// Starts an approved call, once.
    async fn start_approved(
        &self,
        admitted: Admitted,
        call: Ulid,
        entry: Entry,
    ) -> Result<Started, StoreError>;

    /// Ends a running call; the record's kind is that of the outcome.
    async fn finish(&self, id: Ulid, outcome: Outcome, entry: Entry) -> Result<(), StoreError>;

    /// A call.
    async fn call(&self, id: Ulid) -> Result<Option<StoredCall>, StoreError>;

    /// The call of a task that came with an idempotency key.
    async fn call_of_key(&self, task: Ulid, key: Digest) -> Result<Option<StoredCall>, StoreError>;

    /// The calls that are stored as running and that nobody runs any more, oldest first: their kernel is gone, or could
    /// not store their end.
    async fn cut_off(&self, limit: i64) -> Result<Vec<StoredCall>, StoreError>;

    /// Takes over a call that was cut off: this kernel runs it from now on. It is left as it is if somebody runs it after
    /// all, if its task was taken back, or if it was resumed [`MOST_RESUMPTIONS`](crate::calls::MOST_RESUMPTIONS) times.
    async fn resume(
        &self,
        admitted: Admitted,
        call: Ulid,
        entry: Entry,
    ) -> Result<Started, StoreError>;

    /// Takes a call that was cut off to where the record's kind takes it; whether nobody ran it.
    async fn give_up(&self, call: Ulid, reason: &str, entry: Entry) -> Result<bool, StoreError>;

    /// Records something that changes nothing else.
    async fn record(&self, entry: Entry) -> Result<(), StoreError>;

    /// Writes a message to the owner's device.
    async fn post_message(
        &self,
        task_id: Ulid,
        sender: &str,
        body: &str,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Messages after a place, oldest first.
    async fn messages_after(&self, seq: i64, limit: i64) -> Result<Vec<Message>, StoreError>;

    /// How much there is of everything.
    async fn counts(&self) -> Result<Counts, StoreError>;

    /// Ledger records after a place, oldest first.
    async fn records_after(&self, seq: i64, limit: i64) -> Result<Vec<Record>, StoreError>;

    /// The end of the ledger.
    async fn head(&self) -> Result<Head, StoreError>;

    /// Has the ledger's notary sign what the ledger is now, unless that is signed already. The newest checkpoint, as
    /// a signed note; `None` for a store that was given no notary.
    async fn checkpoint(&self, at: Timestamp) -> Result<Option<String>, StoreError>;

    /// A text as a note that the ledger's notary signed; `None` for a store that was given no notary.
    async fn sign(&self, text: &str) -> Result<Option<String>, StoreError>;

    /// The active artifacts, and how often they had changed.
    async fn active_artifacts(&self) -> Result<ActiveArtifacts, StoreError>;

    /// How often the active artifacts had changed. A store of one kernel need not look.
    async fn artifact_changes(&self) -> Result<i64, StoreError>;

    /// How often the active artifacts had changed as far as this store has seen: at the latest when a task was last
    /// asked about by [`is_still_live`](Self::is_still_live).
    fn artifact_changes_seen(&self) -> i64;

    /// Every version of every artifact, by kind, id and version, the first 10,000.
    async fn artifacts(&self) -> Result<Vec<StoredArtifact>, StoreError>;

    /// The versions of one artifact, the oldest first.
    async fn versions_of(
        &self,
        kind: ManifestKind,
        id: &str,
    ) -> Result<Vec<StoredArtifact>, StoreError>;

    /// Stores a version as the active one, in the place of the one before. Not where the active ones have changed
    /// since the maker looked; whether it did.
    async fn activate_artifact(&self, new: NewArtifact, entry: Entry) -> Result<bool, StoreError>;

    /// Takes an active version back; the newest superseded one is active again, if there is one. Not where the active
    /// ones have changed since the maker looked; whether it did.
    async fn revoke_artifact(&self, gone: Revocation, entry: Entry) -> Result<bool, StoreError>;

    /// Notes that the operator shall take an active version over, and why; whether it is active.
    async fn nominate_artifact(
        &self,
        which: (ManifestKind, &str, u32),
        reason: &str,
        entry: Entry,
    ) -> Result<bool, StoreError>;

    /// Closes it in good order.
    async fn close(&self);
}
