//! The one connection that writes, and how changes share its flushes.
//!
//! A change is a savepoint (<https://www.sqlite.org/lang_savepoint.html>) of a transaction that it shares with those
//! that wait for the connection when it begins. That transaction is committed behind the last of them, with one flush
//! (`synchronous=FULL`), and each of them returns when it is known what came of it. So throughput follows the flushes,
//! and a change that is alone waits for nobody. What readers see is durable: SQLite shows a transaction to others once
//! it is flushed. (Commits without a flush, and one flush for many of them afterwards, would show it before.)
//!
//! | what fails | so |
//! |---|---|
//! | a change | its savepoint is rolled back; the others of its transaction stay |
//! | the transaction, or its commit, as on a full disk | none of its changes was made, and each says so; the next ones are tried |
//! | the flush | nobody knows what is on the disk, and a second flush would not tell: nothing is written any more |

use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::Arc;

use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::{Mutex, OwnedMutexGuard, watch};

use super::options;
use crate::ledger::Entry;
use crate::ledger::notary::Notary;
use crate::store::StoreError;
use crate::store::ledger::{End, Growth, check_signed};

/// The most changes that share a transaction.
const MOST: usize = 256;
/// `SQLITE_IOERR_FSYNC` and `SQLITE_IOERR_DIR_FSYNC` (<https://www.sqlite.org/rescode.html>).
const FLUSH_FAILED: [&str; 2] = ["1034", "1290"];

/// The writer.
#[derive(Debug)]
pub(super) struct Writer(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// INVARIANT: what opens, settles and ends savepoints and transactions on it is run to its end, whoever waits for it
    /// goes away ([`uncut`]): so `shared` is what the connection is in.
    connection: SqliteConnection,
    path: PathBuf,
    /// Who signs the ledger.
    notary: Option<Arc<Notary>>,
    /// The ledger's end as of the last change that was made; `None` where only the database can tell.
    end: Option<End>,
    /// The transaction that is open.
    shared: Option<Shared>,
    /// How a flush failed. INVARIANT: nothing is written from then on.
    lost: Option<String>,
}

/// A transaction that changes share.
#[derive(Debug)]
struct Shared {
    changes: usize,
    last: Last,
    outcome: watch::Sender<Option<Outcome>>,
}

/// The savepoint of the last change.
#[derive(Debug, Clone, Copy)]
enum Last {
    /// It is settled, or there was none.
    Settled,
    /// It is open; unless it is made meanwhile, it is to be rolled back.
    Open,
    /// The change is made, and its savepoint is to be released.
    Made,
}

/// What became of a transaction.
#[derive(Debug, Clone)]
enum Outcome {
    Committed,
    NotCommitted(String),
    Lost(String),
}

impl Writer {
    /// A writer on a connection that is in no transaction.
    pub(super) fn new(connection: SqliteConnection, path: PathBuf, end: End) -> Self {
        Self(Arc::new(Mutex::new(State {
            connection,
            path,
            notary: None,
            end: Some(end),
            shared: None,
            lost: None,
        })))
    }

    /// Has a notary sign the ledger from now on, if what was signed allows it.
    pub(super) async fn sign_with(&self, notary: Notary) -> Result<(), String> {
        let remedy = "put the keys/ledger.key back that signed it";
        let mut state = self.0.lock().await;
        let end = state.end().await.map_err(|error| error.to_string())?;
        check_signed(&mut state.connection, &notary, &end, remedy).await?;
        state.notary = Some(Arc::new(notary));
        Ok(())
    }

    /// Who signs the ledger.
    pub(super) async fn notary(&self) -> Option<Arc<Notary>> {
        self.0.lock().await.notary.clone()
    }

    /// Begins a change, when it is its turn.
    pub(super) async fn begin(&self) -> Result<Write, StoreError> {
        let mut state = Arc::clone(&self.0).lock_owned().await;
        let all = Arc::clone(&self.0);
        let begun = async move {
            let growth = state.begin_change(&all).await.map(Growth::after);
            (state, growth)
        };
        let (state, growth) = uncut(begun).await?;
        Ok(Write {
            growth: growth?,
            notary: state.notary.clone(),
            tx: Savepoint(state),
        })
    }

    /// Waits for what is under way, and leaves one whole file behind.
    pub(super) async fn close(&self) {
        let mut state = self.0.lock().await;
        state.commit().await;
        let done = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
            .execute(&mut state.connection)
            .await;
        if let Err(error) = done {
            tracing::warn!(%error, "the store's journal is left for the next start");
        }
    }
}

/// Runs something to its end, whoever waits for it goes away.
async fn uncut<T: Send + 'static>(
    what: impl Future<Output = T> + Send + 'static,
) -> Result<T, StoreError> {
    // It is given up only with the runtime, which nobody waits in.
    tokio::spawn(what).await.map_err(|_| StoreError::Busy)
}

impl State {
    /// Opens a savepoint, and gives the ledger's end before it. Whoever opens a transaction with it has that committed, behind
    /// all that wait for the writer by then.
    async fn begin_change(&mut self, all: &Arc<Mutex<Self>>) -> Result<End, StoreError> {
        self.settle().await;
        if self
            .shared
            .as_ref()
            .is_some_and(|shared| shared.changes >= MOST)
        {
            self.commit().await;
        }
        if let Some(why) = &self.lost {
            return Err(StoreError::FlushFailed(why.clone()));
        }
        if self.shared.is_none() {
            self.execute("BEGIN IMMEDIATE").await?;
            self.shared = Some(Shared {
                changes: 0,
                last: Last::Settled,
                outcome: watch::channel(None).0,
            });
            let all = Arc::clone(all);
            tokio::spawn(async move { all.lock().await.commit().await });
        }
        if let Err(error) = self.execute("SAVEPOINT change").await {
            self.give_up(&error).await;
            return Err(error.into());
        }
        if let Some(shared) = &mut self.shared {
            shared.last = Last::Open;
        }
        self.end().await
    }

    async fn end(&mut self) -> Result<End, StoreError> {
        let end = match self.end.take() {
            Some(end) => end,
            None => End::read(&mut self.connection).await?,
        };
        self.end = Some(end.clone());
        Ok(end)
    }

    /// Releases the last change's savepoint, or rolls it back.
    async fn settle(&mut self) {
        let Some(shared) = &mut self.shared else {
            return;
        };
        let how = match std::mem::replace(&mut shared.last, Last::Settled) {
            Last::Settled => return,
            Last::Open => "ROLLBACK TO change; RELEASE change",
            Last::Made => "RELEASE change",
        };
        // It fails where SQLite has ended the transaction by itself, as on a full disk
        // (<https://www.sqlite.org/lang_transaction.html>, section 4).
        if let Err(error) = self.execute(how).await {
            self.give_up(&error).await;
        }
    }

    /// Commits the transaction that is open, if one is.
    async fn commit(&mut self) {
        self.settle().await;
        if self.shared.is_none() {
            return;
        }
        match self.execute("COMMIT").await {
            Ok(()) => self.tell(Outcome::Committed),
            Err(error) => self.give_up(&error).await,
        }
    }

    /// Ends the transaction without any of its changes.
    async fn give_up(&mut self, error: &sqlx::Error) {
        self.end = None;
        let code = error.as_database_error().and_then(|error| error.code());
        if code.is_some_and(|code| FLUSH_FAILED.contains(&&*code)) {
            tracing::error!(%error, "a flush failed: nothing is recorded any more");
            self.lost = Some(error.to_string());
            self.tell(Outcome::Lost(error.to_string()));
            return;
        }
        // Where it is over already there is nothing to roll back, and a new connection is in none for sure.
        if self.execute("ROLLBACK").await.is_err()
            && let Ok(connection) = SqliteConnection::connect_with(&options(&self.path)).await
        {
            self.connection = connection;
        }
        self.tell(Outcome::NotCommitted(error.to_string()));
    }

    fn tell(&mut self, outcome: Outcome) {
        if let Some(shared) = self.shared.take() {
            shared.outcome.send_replace(Some(outcome));
        }
    }

    async fn execute(&mut self, statements: &'static str) -> Result<(), sqlx::Error> {
        sqlx::raw_sql(statements)
            .execute(&mut self.connection)
            .await?;
        Ok(())
    }
}

/// One change. Dropped without [`commit`](Self::commit), it leaves no trace.
pub(super) struct Write {
    pub(super) tx: Savepoint,
    pub(super) growth: Growth,
    /// Who signs the ledger.
    pub(super) notary: Option<Arc<Notary>>,
}

impl Write {
    /// Ties an entry on to the ledger.
    pub(super) async fn append(&mut self, entry: Entry) -> Result<(), StoreError> {
        self.growth.append(entry, &mut *self.tx).await
    }

    /// Makes the change. INVARIANT: returns when its transaction is durable, or was not made.
    pub(super) async fn commit(mut self) -> Result<(), StoreError> {
        self.growth
            .write(self.notary.as_deref(), &mut *self.tx)
            .await?;
        let Some(mut outcome) = self.tx.made(self.growth.end) else {
            return Err(StoreError::Busy);
        };
        let outcome = outcome.wait_for(Option::is_some).await;
        match outcome.as_deref() {
            Ok(Some(Outcome::Committed)) => Ok(()),
            Ok(Some(Outcome::NotCommitted(why))) => Err(StoreError::NotCommitted(why.clone())),
            Ok(Some(Outcome::Lost(why))) => Err(StoreError::FlushFailed(why.clone())),
            // The store was dropped.
            Ok(None) | Err(_) => Err(StoreError::Busy),
        }
    }
}

/// The writer in one change's hand: its connection, within the change's savepoint.
pub(super) struct Savepoint(OwnedMutexGuard<State>);

impl Savepoint {
    /// Lets the writer go, with the change made. Gives whom to ask what became of the transaction.
    fn made(mut self, end: End) -> Option<watch::Receiver<Option<Outcome>>> {
        let shared = self.0.shared.as_mut()?;
        shared.last = Last::Made;
        shared.changes += 1;
        let outcome = shared.outcome.subscribe();
        self.0.end = Some(end);
        Some(outcome)
    }
}

impl Deref for Savepoint {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.0.connection
    }
}

impl DerefMut for Savepoint {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.0.connection
    }
}
