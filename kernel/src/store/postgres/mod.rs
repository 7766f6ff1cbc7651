//! PostgreSQL: one database, many kernels, one ledger.
//!
//! Whoever changes anything takes the ledger's head first (`SELECT ... FOR UPDATE` of its one row), so that changes of
//! all kernels stand in one line and their records in one chain. What was decided by an earlier look (a token unspent, a
//! task not taken back) is looked at again behind that lock.

mod archive;
mod artifacts;
mod calls;
mod change;
mod changes;
mod connect;
mod ledger;
mod lineage;
mod presence;
mod recovery;
mod tables;

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actum::Digest;
use actum::authority::ManifestKind;
use actum::gate::DenialReason;
use actum::registry::Admitted;
use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::postgres::PgPool;
use tokio::sync::Mutex;
use tokio_util::task::AbortOnDropHandle;
use ulid::Ulid;

pub use self::archive::PostgresArchive;
use self::artifacts::{Activate, Nominate, TakeBack};
use self::calls::{Begin, Decide, Finish, TakeOn};
use self::change::Change;
use self::changes::{Issue, Post, RecordEntry};
use self::ledger::{BeginSigning, Sign};
use self::lineage::{EndTask, Revoke};
use self::recovery::{GiveUp, Resume};
use super::artifacts::Tables as _;
use super::in_hand::InHand;
use super::ledger::End;
use super::lineage::{CHANGES_IF_LIVE, SELECTION, Tables as _};
use super::rows::{COUNTS, HeadRow, RecordRow, SelectionRow, TaskRow, all, unreadable};
use super::{
    ActiveArtifacts, CommissionedTask, Counts, Decided, Message, NewArtifact, NewCall, NewDecision,
    NewReport, NewTask, NotBegun, Outcome, Recorded, Revocation, Started, Store, StoreError,
    StoredArtifact, StoredCall, StoredDecision, StoredSelection, StoredTask, Waiting,
};
use crate::calls::State;
use crate::ledger::notary::Notary;
use crate::ledger::{Entry, Head, Record};

/// The most connections that a kernel opens. One of them at a time waits for the ledger's head.
const CONNECTIONS: u32 = 8;
/// How long a change waits, for its turn and then for the database, before it is given up.
const PATIENCE: Duration = Duration::from_secs(5);

/// A kernel's part of the store that all kernels of one PostgreSQL share.
#[derive(Debug)]
pub struct PostgresStore {
    shared: Arc<Shared>,
    /// Says that this kernel is alive until the store is closed or dropped.
    beat: AbortOnDropHandle<()>,
    /// What the database is called in messages.
    named: connect::Named,
}

#[derive(Debug)]
struct Shared {
    pool: PgPool,
    /// This kernel, as long as it runs; the next start is another one.
    kernel: Ulid,
    /// How often the active artifacts had changed when this kernel last looked.
    artifact_changes: AtomicI64,
    /// The calls that this kernel runs.
    in_hand: InHand,
    /// Kept by the one change of this kernel that waits for the ledger's head, so that others leave
    /// connections to those who only read. The ledger's end as this kernel last left it.
    turn: Mutex<Option<End>>,
    /// Who signs the ledger.
    notary: OnceLock<Arc<Notary>>,
}

impl PostgresStore {
    /// Opens the database whose URL stands in a file, brings its tables up to date, and registers this kernel.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] with the file, what is wrong with what it names, and how to mend it.
    pub async fn open(url_file: &Path) -> Result<Self, StoreError> {
        let (pool, named) = connect::open(url_file).await?;
        let shared = Arc::new(Shared {
            pool,
            kernel: Ulid::generate(),
            artifact_changes: AtomicI64::new(0),
            in_hand: InHand::default(),
            turn: Mutex::new(None),
            notary: OnceLock::new(),
        });
        presence::beat(&shared.pool, shared.kernel).await?;
        let beat = tokio::spawn(presence::keep_beating(Arc::clone(&shared)));
        Ok(Self {
            shared,
            beat: AbortOnDropHandle::new(beat),
            named,
        })
    }

    /// Has a notary sign the ledger from now on. Where nothing is signed yet, it signs at once.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] when what was last signed was so with another key, or is no longer what the ledger
    /// begins with.
    pub async fn signed_by(self, notary: Notary) -> Result<Self, StoreError> {
        let notary = Arc::new(notary);
        let begin = BeginSigning {
            notary: Arc::clone(&notary),
            at: Timestamp::now(),
        };
        self.change(&begin)
            .await?
            .map_err(|problem| self.named.told(&problem))?;
        // By whoever came first, and with the same key: the check saw to that.
        let _ = self.shared.notary.set(notary);
        Ok(self)
    }

    /// This kernel's id among those that share the store.
    #[must_use]
    pub fn kernel(&self) -> Ulid {
        self.shared.kernel
    }

    async fn change<C: Change>(&self, change: &C) -> Result<C::Done, StoreError> {
        self.shared.change(change).await
    }
}

impl Shared {
    /// Notes how often the active artifacts had changed. It only grows, in whatever order answers come.
    fn saw(&self, changes: i64) {
        self.artifact_changes.fetch_max(changes, Ordering::SeqCst);
    }
}

#[async_trait]
impl Store for PostgresStore {
    fn kind(&self) -> &'static str {
        "postgres"
    }

    fn is_shared(&self) -> bool {
        true
    }

    async fn issue(&self, task: NewTask<'_>, entry: Entry) -> Result<(), StoreError> {
        let grant = serde_json::to_string(task.grant).map_err(unreadable)?;
        let issue = Issue {
            parent: None,
            task,
            grant,
            entry,
        };
        self.change(&issue).await.map(drop)
    }

    async fn commission(
        &self,
        parent: Ulid,
        task: NewTask<'_>,
        entry: Entry,
    ) -> Result<bool, StoreError> {
        let grant = serde_json::to_string(task.grant).map_err(unreadable)?;
        let issue = Issue {
            parent: Some(parent),
            task,
            grant,
            entry,
        };
        self.change(&issue).await
    }

    async fn commissioned(
        &self,
        task: Ulid,
        limit: i64,
    ) -> Result<Vec<CommissionedTask>, StoreError> {
        self.shared
            .pool
            .acquire()
            .await?
            .commissioned(task, limit)
            .await
    }

    async fn task(&self, id: Ulid) -> Result<Option<StoredTask>, StoreError> {
        let row: Option<TaskRow> = sqlx::query_as(
            "SELECT token_hash, grant_body, message, parent_id,
                 revoked_at IS NOT NULL AS revoked, ended_at IS NOT NULL AS ended
             FROM tasks WHERE id = $1",
        )
        .bind(id.to_string())
        .fetch_optional(&self.shared.pool)
        .await?;
        row.map(StoredTask::try_from).transpose()
    }

    /// Asks each time: another kernel may have ended it since.
    async fn is_still_live(&self, id: Ulid) -> Result<bool, StoreError> {
        // In the same round trip: whether what is in force is still what this kernel knows.
        let changes: Option<i64> = sqlx::query_scalar(CHANGES_IF_LIVE)
            .bind(id.to_string())
            .fetch_optional(&self.shared.pool)
            .await?;
        if let Some(changes) = changes {
            self.shared.saw(changes);
        }
        Ok(changes.is_some())
    }

    async fn revoke(&self, id: Ulid, entry: Entry) -> Result<Vec<Ulid>, StoreError> {
        self.change(&Revoke { id, entry }).await
    }

    async fn end(&self, report: NewReport) -> Result<Option<Vec<Ulid>>, StoreError> {
        self.change(&EndTask(report)).await
    }

    async fn selection(
        &self,
        id: Ulid,
        task_id: Ulid,
    ) -> Result<Option<StoredSelection>, StoreError> {
        let row: Option<SelectionRow> = sqlx::query_as(SELECTION)
            .bind(task_id.to_string())
            .bind(id.to_string())
            .fetch_optional(&self.shared.pool)
            .await?;
        row.map(|row| row.of(id)).transpose()
    }

    async fn start(&self, admitted: Admitted, call: NewCall) -> Result<Started, StoreError> {
        // Before it is stored: a call that is stored as running and in nobody's hand is cut off.
        let taken = self.shared.in_hand.take(call.id);
        let taken = taken.ok_or_else(|| unreadable(format!("the call {} runs", call.id)))?;
        let begin = Begin {
            call,
            waiting: None,
            kernel: self.shared.kernel,
        };
        match self.change(&begin).await? {
            Some(reason) => Ok(Started::Not(reason)),
            None => {
                taken.keep();
                Ok(Started::Recorded(Recorded(admitted)))
            }
        }
    }

    async fn hold(&self, call: NewCall, waiting: Waiting) -> Result<Option<NotBegun>, StoreError> {
        let begin = Begin {
            call,
            waiting: Some(waiting),
            kernel: self.shared.kernel,
        };
        self.change(&begin).await
    }

    async fn calls_in(&self, state: State, limit: i64) -> Result<Vec<StoredCall>, StoreError> {
        calls::in_state(&self.shared.pool, state, limit).await
    }

    async fn calls_of(
        &self,
        action: &str,
        after: Ulid,
        limit: i64,
    ) -> Result<Vec<StoredCall>, StoreError> {
        calls::of_action(&self.shared.pool, action, after, limit).await
    }

    async fn decisions(&self, call: Ulid) -> Result<Vec<StoredDecision>, StoreError> {
        calls::decisions(&self.shared.pool, call).await
    }

    async fn decide(&self, decision: NewDecision) -> Result<Decided, StoreError> {
        self.change(&Decide(decision)).await
    }

    async fn step(
        &self,
        call: Ulid,
        from: State,
        reason: &str,
        entry: Entry,
    ) -> Result<bool, StoreError> {
        self.change(&TakeOn {
            id: call,
            from,
            reason: Some(reason),
            kernel: None,
            entry,
        })
        .await
    }

    async fn start_approved(
        &self,
        admitted: Admitted,
        call: Ulid,
        entry: Entry,
    ) -> Result<Started, StoreError> {
        let Some(taken) = self.shared.in_hand.take(call) else {
            return Ok(Started::Not(NotBegun::Refused(
                DenialReason::ApprovalMissing,
            )));
        };
        let take_on = TakeOn {
            id: call,
            from: State::Approved,
            reason: None,
            kernel: Some(self.shared.kernel),
            entry,
        };
        if !self.change(&take_on).await? {
            let missing = NotBegun::Refused(DenialReason::ApprovalMissing);
            return Ok(Started::Not(missing));
        }
        taken.keep();
        Ok(Started::Recorded(Recorded(admitted)))
    }

    async fn finish(&self, id: Ulid, outcome: Outcome, entry: Entry) -> Result<(), StoreError> {
        // Let go whatever comes of it: a call whose end cannot be stored is cut off.
        let _taken = self.shared.in_hand.until_dropped(id);
        let finish = Finish::new(id, self.shared.kernel, outcome, entry)?;
        self.shared.persist(&finish).await
    }

    async fn call(&self, id: Ulid) -> Result<Option<StoredCall>, StoreError> {
        calls::get(&self.shared.pool, id).await
    }

    async fn call_of_key(&self, task: Ulid, key: Digest) -> Result<Option<StoredCall>, StoreError> {
        calls::of_key(&self.shared.pool, task, key).await
    }

    async fn cut_off(&self, limit: i64) -> Result<Vec<StoredCall>, StoreError> {
        recovery::cut_off(&self.shared, limit).await
    }

    async fn resume(
        &self,
        admitted: Admitted,
        call: Ulid,
        entry: Entry,
    ) -> Result<Started, StoreError> {
        let Some(taken) = self.shared.in_hand.take(call) else {
            return Ok(Started::Not(NotBegun::Refused(
                DenialReason::ApprovalMissing,
            )));
        };
        let kernel = self.shared.kernel;
        let resume = Resume {
            call,
            kernel,
            entry,
        };
        Ok(match self.change(&resume).await? {
            Some(reason) => Started::Not(NotBegun::Refused(reason)),
            None => {
                taken.keep();
                Started::Recorded(Recorded(admitted))
            }
        })
    }

    async fn give_up(&self, call: Ulid, reason: &str, entry: Entry) -> Result<bool, StoreError> {
        let Some(_taken) = self.shared.in_hand.take(call) else {
            return Ok(false);
        };
        let kernel = self.shared.kernel;
        self.change(&GiveUp {
            call,
            kernel,
            reason,
            entry,
        })
        .await
    }

    async fn record(&self, entry: Entry) -> Result<(), StoreError> {
        self.change(&RecordEntry(entry)).await
    }

    async fn post_message(
        &self,
        task_id: Ulid,
        sender: &str,
        body: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.change(&Post {
            task_id,
            sender,
            body,
            at,
        })
        .await
    }

    async fn messages_after(&self, seq: i64, limit: i64) -> Result<Vec<Message>, StoreError> {
        let messages = sqlx::query_as(
            "SELECT seq, at, task_id, sender, body FROM messages WHERE seq > $1 ORDER BY seq LIMIT $2",
        )
        .bind(seq)
        .bind(limit)
        .fetch_all(&self.shared.pool)
        .await?;
        Ok(messages)
    }

    async fn counts(&self) -> Result<Counts, StoreError> {
        Ok(sqlx::query_as(COUNTS).fetch_one(&self.shared.pool).await?)
    }

    async fn records_after(&self, seq: i64, limit: i64) -> Result<Vec<Record>, StoreError> {
        let rows: Vec<RecordRow> = sqlx::query_as(
            "SELECT seq, at, kind, body, prev, digest FROM audit WHERE seq > $1 ORDER BY seq LIMIT $2",
        )
        .bind(seq)
        .bind(limit)
        .fetch_all(&self.shared.pool)
        .await?;
        all(rows)
    }

    async fn head(&self) -> Result<Head, StoreError> {
        let row: HeadRow = sqlx::query_as("SELECT seq, digest FROM ledger_head")
            .fetch_one(&self.shared.pool)
            .await?;
        row.try_into()
    }

    async fn checkpoint(&self, at: Timestamp) -> Result<Option<String>, StoreError> {
        self.change(&Sign(at)).await
    }

    async fn sign(&self, text: &str) -> Result<Option<String>, StoreError> {
        let notary = self.shared.notary.get();
        notary.map(|it| it.signed(text.as_bytes())).transpose()
    }

    async fn active_artifacts(&self) -> Result<ActiveArtifacts, StoreError> {
        self.shared.pool.acquire().await?.active_artifacts().await
    }

    async fn artifact_changes(&self) -> Result<i64, StoreError> {
        let changes = self.shared.pool.acquire().await?.artifact_changes().await?;
        self.shared.saw(changes);
        Ok(changes)
    }

    fn artifact_changes_seen(&self) -> i64 {
        self.shared.artifact_changes.load(Ordering::SeqCst)
    }

    async fn artifacts(&self) -> Result<Vec<StoredArtifact>, StoreError> {
        self.shared.pool.acquire().await?.artifacts().await
    }

    async fn versions_of(
        &self,
        kind: ManifestKind,
        id: &str,
    ) -> Result<Vec<StoredArtifact>, StoreError> {
        self.shared
            .pool
            .acquire()
            .await?
            .versions_of(kind, id)
            .await
    }

    async fn activate_artifact(&self, new: NewArtifact, entry: Entry) -> Result<bool, StoreError> {
        self.change(&Activate { new, entry }).await
    }

    async fn revoke_artifact(&self, gone: Revocation, entry: Entry) -> Result<bool, StoreError> {
        self.change(&TakeBack { gone, entry }).await
    }

    async fn nominate_artifact(
        &self,
        which: (ManifestKind, &str, u32),
        reason: &str,
        entry: Entry,
    ) -> Result<bool, StoreError> {
        self.change(&Nominate {
            which,
            reason,
            entry,
        })
        .await
    }

    async fn close(&self) {
        self.beat.abort();
        // A change under way is waited for.
        let _turn = self.shared.turn.lock().await;
        if let Err(error) = presence::leave(&self.shared.pool, self.shared.kernel).await {
            tracing::warn!(%error, "this kernel could not sign off; the others find it silent in a while");
        }
        self.shared.pool.close().await;
    }
}
