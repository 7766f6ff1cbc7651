//! SQLite: one file, one writer, WAL, and a flush before every answer.

mod archive;
mod calls;
mod recovery;
mod writer;

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use actum::Digest;
use actum::authority::ManifestKind;
use actum::gate::DenialReason;
use actum::registry::Admitted;
use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};
use sqlx::{Connection, Row};
use ulid::Ulid;

use super::artifacts::Tables as _;
use super::in_hand::InHand;
use super::ledger::{self, End, Tables};
use super::lineage::{self, SELECTION, Tables as _};
use super::rows::{COUNTS, HeadRow, RecordRow, SelectionRow, TaskRow, all, unreadable};
use super::{
    ActiveArtifacts, CommissionedTask, Counts, Decided, Message, NewArtifact, NewCall, NewDecision,
    NewReport, NewTask, NotBegun, Outcome, Recorded, Revocation, Started, Store, StoreError,
    StoredArtifact, StoredCall, StoredDecision, StoredSelection, StoredTask, Waiting,
};
use crate::calls::State;
use crate::ledger::notary::Notary;
use crate::ledger::{Entry, Head, Record};

use writer::{Write, Writer};

pub use archive::{ArchivedCall, ArchivedTask, SqliteArchive, verify_file};

/// The database's file, within the store's folder.
const FILE: &str = "actum.db";
/// Readers beside the one writer.
const READERS: u32 = 4;

/// A kernel's store in one SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    /// INVARIANT: the only connection that writes.
    writer: Writer,
    readers: SqlitePool,
    in_hand: InHand,
    path: PathBuf,
    /// How often the active artifacts changed. INVARIANT: nobody else changes them.
    artifact_changes: AtomicI64,
    /// Held as long as the store is open, so that no second kernel writes to it.
    _lock: File,
}

impl SqliteStore {
    /// Opens `actum.db` in a folder, making both where they are missing.
    ///
    /// # Errors
    /// [`StoreError`] when another kernel has it open, or it cannot be written or brought up to date.
    pub async fn open(folder: &Path) -> Result<Self, StoreError> {
        let unusable = |path: &Path, problem: String| StoreError::Unusable {
            path: path.display().to_string(),
            problem,
        };
        crate::folder::make_private(folder).map_err(|error| {
            unusable(
                folder,
                format!("cannot be made: {error}; choose another `data` folder"),
            )
        })?;
        let lock_path = folder.join("actum.lock");
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock_path)
            .map_err(|error| {
                unusable(
                    &lock_path,
                    format!("cannot be written: {error}; the kernel needs a `data` folder that it may write to"),
                )
            })?;
        lock.try_lock().map_err(|_| {
            unusable(
                &lock_path,
                "another kernel has this store open; stop it, or choose another `data` folder"
                    .to_owned(),
            )
        })?;

        let path = folder.join(FILE);
        let cannot_open = |error| told(&path, &error);
        if path.exists() && !is_ours(&path).await? {
            return Err(unusable(
                &path,
                "is the database of another program; choose another `data` folder".to_owned(),
            ));
        }
        let options = options(&path);
        let mut connection =
            SqliteConnection::connect_with(&options.clone().create_if_missing(true))
                .await
                .map_err(cannot_open)?;
        sqlx::migrate!("migrations/sqlite")
            .run(&mut connection)
            .await
            .map_err(|error| {
                unusable(
                    &path,
                    format!("its tables cannot be brought up to date: {error}; it may be of a newer version of Actum, which is then the one to run"),
                )
            })?;
        let mut tx = connection.begin().await.map_err(cannot_open)?;
        ledger::take_over(&mut *tx)
            .await
            .map_err(|problem| unusable(&path, problem))?;
        tx.commit().await.map_err(cannot_open)?;
        let end = End::read(&mut connection)
            .await
            .map_err(|error| unusable(&path, error.to_string()))?;
        let artifact_changes = connection.artifact_changes().await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .connect_with(options.read_only(true))
            .await
            .map_err(cannot_open)?;
        Ok(Self {
            writer: Writer::new(connection, path.clone(), end),
            readers,
            in_hand: InHand::default(),
            path,
            artifact_changes: AtomicI64::new(artifact_changes),
            _lock: lock,
        })
    }

    /// Has a notary sign the ledger from now on.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] when what was last signed was so with another key, or is no longer what the ledger
    /// begins with.
    pub async fn signed_by(self, notary: Notary) -> Result<Self, StoreError> {
        let signed = self.writer.sign_with(notary).await;
        signed.map_err(|problem| StoreError::Unusable {
            path: self.path.display().to_string(),
            problem,
        })?;
        Ok(self)
    }

    /// Notes that the active artifacts changed once more, if they did.
    fn count_change(&self, is_done: bool, after: i64) {
        if is_done {
            let changes = after.saturating_add(1);
            self.artifact_changes.fetch_max(changes, Ordering::SeqCst);
        }
    }
}

/// Whether there is a store of ours, or nothing yet, in a database file. Asked before anything is
/// changed in it.
async fn is_ours(path: &Path) -> Result<bool, StoreError> {
    let look = async || {
        let options = SqliteConnectOptions::new().filename(path).read_only(true);
        let mut connection = SqliteConnection::connect_with(&options).await?;
        let row = sqlx::query(
            "SELECT count(*) = 0 OR max(name = '_sqlx_migrations') AS ours FROM sqlite_schema",
        )
        .fetch_one(&mut connection)
        .await?;
        connection.close().await?;
        row.try_get("ours")
    };
    look().await.map_err(|error| told(path, &error))
}

/// An error of a database file, with the file and what to do.
fn told(path: &Path, error: &sqlx::Error) -> StoreError {
    let code = error.as_database_error().and_then(|error| error.code());
    // The low byte of SQLite's code is its kind: SQLITE_CORRUPT and SQLITE_NOTADB.
    let kind = code
        .and_then(|code| code.parse::<u32>().ok())
        .map(|code| code & 0xff);
    let remedy = match kind {
        Some(11 | 26) => {
            "it is damaged or no database; restore it from a backup, or move it away to begin anew"
        }
        _ => "check its permissions and its disk",
    };
    StoreError::Unusable {
        path: path.display().to_string(),
        problem: format!("cannot be used: {error}; {remedy}"),
    }
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        // A commit returns after the flush: what was answered survives the power cut.
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(Duration::from_secs(5))
}

#[async_trait]
impl Store for SqliteStore {
    fn kind(&self) -> &'static str {
        "sqlite"
    }

    /// INVARIANT: the lock file sees to it.
    fn is_shared(&self) -> bool {
        false
    }

    async fn issue(&self, task: NewTask<'_>, entry: Entry) -> Result<(), StoreError> {
        let mut write = self.writer.begin().await?;
        insert(&mut write, &task, None).await?;
        write.append(entry).await?;
        write.commit().await?;
        Ok(())
    }

    async fn commission(
        &self,
        parent: Ulid,
        task: NewTask<'_>,
        entry: Entry,
    ) -> Result<bool, StoreError> {
        let mut write = self.writer.begin().await?;
        if !write.tx.is_live(parent).await? {
            return Ok(false);
        }
        insert(&mut write, &task, Some(parent)).await?;
        write.append(entry).await?;
        write.commit().await?;
        Ok(true)
    }

    async fn commissioned(
        &self,
        task: Ulid,
        limit: i64,
    ) -> Result<Vec<CommissionedTask>, StoreError> {
        self.readers
            .acquire()
            .await?
            .commissioned(task, limit)
            .await
    }

    async fn task(&self, id: Ulid) -> Result<Option<StoredTask>, StoreError> {
        let row: Option<TaskRow> = sqlx::query_as(
            "SELECT token_hash, grant_body, message, parent_id,
                 revoked_at IS NOT NULL AS revoked, ended_at IS NOT NULL AS ended
             FROM tasks WHERE id = ?",
        )
        .bind(id.to_string())
        .fetch_optional(&self.readers)
        .await?;
        row.map(StoredTask::try_from).transpose()
    }

    /// INVARIANT: the lock file sees to it that nobody else takes a task back.
    async fn is_still_live(&self, _id: Ulid) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn revoke(&self, id: Ulid, entry: Entry) -> Result<Vec<Ulid>, StoreError> {
        let mut write = self.writer.begin().await?;
        let taken = take_back(&mut write, id, &entry).await?;
        if !taken.is_empty() {
            write.commit().await?;
        }
        Ok(taken)
    }

    async fn end(&self, report: NewReport) -> Result<Option<Vec<Ulid>>, StoreError> {
        let mut write = self.writer.begin().await?;
        if !write.tx.end(&report).await? {
            return Ok(None);
        }
        write.append(report.entry.clone()).await?;
        let taken = take_back(&mut write, report.task, &report.entry).await?;
        write.commit().await?;
        Ok(Some(taken))
    }

    async fn selection(
        &self,
        id: Ulid,
        task_id: Ulid,
    ) -> Result<Option<StoredSelection>, StoreError> {
        let row: Option<SelectionRow> = sqlx::query_as(SELECTION)
            .bind(task_id.to_string())
            .bind(id.to_string())
            .fetch_optional(&self.readers)
            .await?;
        row.map(|row| row.of(id)).transpose()
    }

    async fn start(&self, admitted: Admitted, call: NewCall) -> Result<Started, StoreError> {
        let taken = self.in_hand.take(call.id);
        let taken = taken.ok_or_else(|| unreadable(format!("the call {} runs", call.id)))?;
        let mut write = self.writer.begin().await?;
        if let Some(reason) = calls::begin(&mut write.tx, &call, None).await? {
            return Ok(Started::Not(reason));
        }
        calls::insert(&mut write.tx, &call, State::Running, None).await?;
        write.append(call.entry).await?;
        write.commit().await?;
        taken.keep();
        Ok(Started::Recorded(Recorded(admitted)))
    }

    async fn hold(&self, call: NewCall, waiting: Waiting) -> Result<Option<NotBegun>, StoreError> {
        let mut write = self.writer.begin().await?;
        let old = waiting.instead_of.as_ref().map(|(old, _)| *old);
        if let Some(reason) = calls::begin(&mut write.tx, &call, old).await? {
            return Ok(Some(reason));
        }
        calls::insert(&mut write.tx, &call, State::Pending, Some(&waiting)).await?;
        if let Some((old, entry)) = waiting.instead_of {
            if !calls::step(&mut write, old, State::Pending, Some("edited"), entry).await? {
                return Ok(Some(NotBegun::Refused(DenialReason::ApprovalMissing)));
            }
            calls::supersede(&mut write.tx, old, call.id).await?;
        }
        write.append(call.entry).await?;
        write.commit().await?;
        Ok(None)
    }

    async fn calls_in(&self, state: State, limit: i64) -> Result<Vec<StoredCall>, StoreError> {
        calls::in_state(&self.readers, state, limit).await
    }

    async fn calls_of(
        &self,
        action: &str,
        after: Ulid,
        limit: i64,
    ) -> Result<Vec<StoredCall>, StoreError> {
        calls::of_action(&self.readers, action, after, limit).await
    }

    async fn decisions(&self, call: Ulid) -> Result<Vec<StoredDecision>, StoreError> {
        calls::decisions(&self.readers, call).await
    }

    async fn decide(&self, decision: NewDecision) -> Result<Decided, StoreError> {
        let mut write = self.writer.begin().await?;
        let decided = calls::decide(&mut write, decision).await?;
        if let Decided::Stored(_) = decided {
            write.commit().await?;
        }
        Ok(decided)
    }

    async fn step(
        &self,
        call: Ulid,
        from: State,
        reason: &str,
        entry: Entry,
    ) -> Result<bool, StoreError> {
        let mut write = self.writer.begin().await?;
        let done = calls::step(&mut write, call, from, Some(reason), entry).await?;
        if done {
            write.commit().await?;
        }
        Ok(done)
    }

    async fn start_approved(
        &self,
        admitted: Admitted,
        call: Ulid,
        entry: Entry,
    ) -> Result<Started, StoreError> {
        let refused = |reason| Started::Not(NotBegun::Refused(reason));
        let Some(taken) = self.in_hand.take(call) else {
            return Ok(refused(DenialReason::ApprovalMissing));
        };
        let mut write = self.writer.begin().await?;
        if !calls::is_of_live_task(&mut write.tx, call).await? {
            return Ok(refused(DenialReason::GrantExpired));
        }
        if !calls::step(&mut write, call, State::Approved, None, entry).await? {
            return Ok(refused(DenialReason::ApprovalMissing));
        }
        write.commit().await?;
        taken.keep();
        Ok(Started::Recorded(Recorded(admitted)))
    }

    async fn finish(&self, id: Ulid, outcome: Outcome, entry: Entry) -> Result<(), StoreError> {
        // Let go whatever comes of it: a call whose end cannot be stored is cut off.
        let _taken = self.in_hand.until_dropped(id);
        let kind = outcome.kind();
        let entry = Entry { kind, ..entry };
        let (result, reason) = (outcome.result()?, outcome.reason());
        let mut write = self.writer.begin().await?;
        if !calls::step(&mut write, id, State::Running, reason, entry).await? {
            return Err(StoreError::Unreadable(format!(
                "the call {id} is not running"
            )));
        }
        sqlx::query("UPDATE calls SET result = ? WHERE id = ?")
            .bind(result)
            .bind(id.to_string())
            .execute(&mut *write.tx)
            .await?;
        write.commit().await?;
        Ok(())
    }

    async fn call(&self, id: Ulid) -> Result<Option<StoredCall>, StoreError> {
        calls::get(&self.readers, id).await
    }

    async fn call_of_key(&self, task: Ulid, key: Digest) -> Result<Option<StoredCall>, StoreError> {
        calls::of_key(&self.readers, task, key).await
    }

    async fn cut_off(&self, limit: i64) -> Result<Vec<StoredCall>, StoreError> {
        recovery::cut_off(self, limit).await
    }

    async fn resume(
        &self,
        admitted: Admitted,
        call: Ulid,
        entry: Entry,
    ) -> Result<Started, StoreError> {
        recovery::resume(self, admitted, call, entry).await
    }

    async fn give_up(&self, call: Ulid, reason: &str, entry: Entry) -> Result<bool, StoreError> {
        recovery::give_up(self, call, reason, entry).await
    }

    async fn record(&self, entry: Entry) -> Result<(), StoreError> {
        let mut write = self.writer.begin().await?;
        write.append(entry).await?;
        write.commit().await?;
        Ok(())
    }

    async fn post_message(
        &self,
        task_id: Ulid,
        sender: &str,
        body: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let mut write = self.writer.begin().await?;
        sqlx::query("INSERT INTO messages (at, task_id, sender, body) VALUES (?, ?, ?, ?)")
            .bind(at.to_string())
            .bind(task_id.to_string())
            .bind(sender)
            .bind(body)
            .execute(&mut *write.tx)
            .await?;
        write.commit().await
    }

    async fn messages_after(&self, seq: i64, limit: i64) -> Result<Vec<Message>, StoreError> {
        let messages = sqlx::query_as(
            "SELECT seq, at, task_id, sender, body FROM messages WHERE seq > ? ORDER BY seq LIMIT ?",
        )
        .bind(seq)
        .bind(limit)
        .fetch_all(&self.readers)
        .await?;
        Ok(messages)
    }

    async fn counts(&self) -> Result<Counts, StoreError> {
        Ok(sqlx::query_as(COUNTS).fetch_one(&self.readers).await?)
    }

    async fn records_after(&self, seq: i64, limit: i64) -> Result<Vec<Record>, StoreError> {
        let rows: Vec<RecordRow> = sqlx::query_as(
            "SELECT seq, at, kind, body, prev, digest FROM audit WHERE seq > ? ORDER BY seq LIMIT ?",
        )
        .bind(seq)
        .bind(limit)
        .fetch_all(&self.readers)
        .await?;
        all(rows)
    }

    async fn head(&self) -> Result<Head, StoreError> {
        let row: Option<HeadRow> =
            sqlx::query_as("SELECT seq, digest FROM audit ORDER BY seq DESC LIMIT 1")
                .fetch_optional(&self.readers)
                .await?;
        row.map_or(Ok(Head::empty()), Head::try_from)
    }

    async fn checkpoint(&self, at: Timestamp) -> Result<Option<String>, StoreError> {
        let mut write = self.writer.begin().await?;
        let Some(notary) = write.notary.clone() else {
            return Ok(None);
        };
        write.growth.sign_now(&notary, at, &mut *write.tx).await?;
        let note = write.tx.newest_note().await?;
        write.commit().await?;
        Ok(note)
    }

    async fn sign(&self, text: &str) -> Result<Option<String>, StoreError> {
        let notary = self.writer.notary().await;
        notary.map(|it| it.signed(text.as_bytes())).transpose()
    }

    async fn active_artifacts(&self) -> Result<ActiveArtifacts, StoreError> {
        self.readers.acquire().await?.active_artifacts().await
    }

    async fn artifact_changes(&self) -> Result<i64, StoreError> {
        Ok(self.artifact_changes_seen())
    }

    fn artifact_changes_seen(&self) -> i64 {
        self.artifact_changes.load(Ordering::SeqCst)
    }

    async fn artifacts(&self) -> Result<Vec<StoredArtifact>, StoreError> {
        self.readers.acquire().await?.artifacts().await
    }

    async fn versions_of(
        &self,
        kind: ManifestKind,
        id: &str,
    ) -> Result<Vec<StoredArtifact>, StoreError> {
        self.readers.acquire().await?.versions_of(kind, id).await
    }

    async fn activate_artifact(&self, new: NewArtifact, entry: Entry) -> Result<bool, StoreError> {
        let mut write = self.writer.begin().await?;
        let is_done = write.tx.activate(&new, entry.at).await?;
        let is_done = recorded(write, is_done, entry).await?;
        self.count_change(is_done, new.after);
        Ok(is_done)
    }

    async fn revoke_artifact(&self, gone: Revocation, entry: Entry) -> Result<bool, StoreError> {
        let mut write = self.writer.begin().await?;
        let is_done = write.tx.take_back_artifact(&gone).await?;
        let is_done = recorded(write, is_done, entry).await?;
        self.count_change(is_done, gone.after);
        Ok(is_done)
    }

    async fn nominate_artifact(
        &self,
        which: (ManifestKind, &str, u32),
        reason: &str,
        entry: Entry,
    ) -> Result<bool, StoreError> {
        let mut write = self.writer.begin().await?;
        let is_done = write.tx.nominate(which, reason).await?;
        recorded(write, is_done, entry).await
    }

    async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

/// Stores a task.
async fn insert(
    write: &mut Write,
    task: &NewTask<'_>,
    parent: Option<Ulid>,
) -> Result<(), StoreError> {
    let grant = serde_json::to_string(task.grant).map_err(unreadable)?;
    write.tx.insert_task(task, &grant, parent).await
}

/// Takes a task back with all below it; those that were.
async fn take_back(write: &mut Write, task: Ulid, entry: &Entry) -> Result<Vec<Ulid>, StoreError> {
    let taken = write.tx.take_back(task, entry.at).await?;
    for record in lineage::records(entry, task, &taken) {
        write.append(record).await?;
    }
    Ok(taken)
}

/// Commits a change with its record, if it was made; whether it was.
async fn recorded(mut write: Write, is_done: bool, entry: Entry) -> Result<bool, StoreError> {
    if is_done {
        write.append(entry).await?;
        write.commit().await?;
    }
    Ok(is_done)
}
