//! One change: a transaction with its ledger record, tried again only where nothing can have happened.
//!
//! | what fails | what can have happened | so |
//! |---|---|---|
//! | anything before `COMMIT` is sent | nothing: PostgreSQL rolls back what was not committed | a lost connection, a deadlock or a serialization failure is tried again; the rest is told |
//! | `COMMIT` has no answer | all or nothing | the database is asked, by the transaction's id, once it is there again |
//! | it cannot be asked in time | all or nothing | [`StoreError::OutcomeUnknown`] |
//!
//! That a client may ask so is what `pg_xact_status` is for
//! (<https://www.postgresql.org/docs/current/functions-info.html>); codes of errors:
//! <https://www.postgresql.org/docs/current/errcodes-appendix.html>.

use std::future::Future;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::postgres::{PgPool, Postgres};
use sqlx::{FromRow, Row, Transaction};
use tokio::time::Instant;

use super::{PATIENCE, Shared};
use crate::ledger::notary::Notary;
use crate::ledger::{Entry, Head};
use crate::store::StoreError;
use crate::store::ledger::{End, Growth};
use crate::store::rows::{HeadRow, unreadable};

/// How often a change is tried.
const TRIES: usize = 3;
/// How long the end of a call is kept for a database that is away, and how long between two tries.
const PERSISTENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(100);

/// Something to be changed.
#[async_trait]
pub(super) trait Change: Sync {
    /// What comes of it.
    type Done: Send;

    /// Makes the change within a transaction. It may be asked again: what it did in a transaction that failed is gone.
    async fn apply(&self, write: &mut Write) -> Result<Applied<Self::Done>, StoreError>;
}

/// What came of applying a change.
pub(super) enum Applied<T> {
    /// There is something to commit.
    Changed(T),
    /// Nothing was changed, or what was is to be rolled back.
    Unchanged(T),
}

/// One transaction that holds the ledger's head. Dropped without [`commit`](Self::commit), it leaves no trace.
pub(super) struct Write {
    pub(super) tx: Transaction<'static, Postgres>,
    pub(super) growth: Growth,
    /// Who signs the ledger.
    pub(super) notary: Option<Arc<Notary>>,
    /// What the head says, and how much of it is signed.
    old: (Head, u64),
    /// PostgreSQL's id of the transaction, as text.
    id: String,
}

impl Write {
    /// `last` is the ledger's end as this kernel left it: read anew where another one went on since.
    async fn begin(
        pool: &PgPool,
        notary: Option<Arc<Notary>>,
        last: Option<&End>,
    ) -> Result<Self, StoreError> {
        let mut tx = pool.begin().await?;
        // INVARIANT: the first lock of every change; so no two of them wait for each other.
        let row = sqlx::query(
            "SELECT seq, digest, signed, pg_current_xact_id()::text AS id FROM ledger_head FOR UPDATE",
        )
        .fetch_one(&mut *tx)
        .await?;
        let head = Head::try_from(HeadRow::from_row(&row)?)?;
        let signed = u64::try_from(row.try_get::<i64, _>("signed")?).map_err(unreadable)?;
        let end = match last.filter(|last| last.head == head) {
            // What is signed another kernel may have gone on with alone.
            Some(last) => {
                let mut end = last.clone();
                end.signed = signed;
                end
            }
            // By a statement of its own: the one that waited for the lock sees only the head as it is by now.
            None => End::of(head, signed, &mut *tx).await?,
        };
        Ok(Self {
            tx,
            growth: Growth::after(end),
            notary,
            old: (head, signed),
            id: row.try_get("id")?,
        })
    }

    /// Ties an entry on to the ledger.
    pub(super) async fn append(&mut self, entry: &Entry) -> Result<(), StoreError> {
        self.growth.append(entry.clone(), &mut *self.tx).await
    }

    /// Writes what the tree grew by, and moves the head on.
    async fn move_head(&mut self) -> Result<(), StoreError> {
        self.growth
            .write(self.notary.as_deref(), &mut *self.tx)
            .await?;
        let End { head, signed, .. } = self.growth.end;
        if (head, signed) != self.old {
            sqlx::query("UPDATE ledger_head SET seq = $1, digest = $2, signed = $3")
                .bind(head.seq)
                .bind(head.digest.to_string())
                .bind(i64::try_from(signed).map_err(unreadable)?)
                .execute(&mut *self.tx)
                .await?;
        }
        Ok(())
    }
}

/// How a try failed.
enum Failed<T> {
    /// Before the commit: nothing happened.
    Before(StoreError),
    /// In the commit: what would be done, by which transaction, up to which end of the ledger.
    InCommit {
        done: T,
        id: String,
        head: Head,
        error: sqlx::Error,
    },
}

impl Shared {
    /// Makes a change, and says so only once it is durable.
    pub(super) async fn change<C: Change>(&self, change: &C) -> Result<C::Done, StoreError> {
        let mut turn = in_time(async { Ok(self.turn.lock().await) }).await?;
        let mut further = 1..TRIES;
        loop {
            let error = match self.attempt(change, &mut turn).await {
                Ok(done) => return Ok(done),
                Err(Failed::Before(error)) => error,
                Err(Failed::InCommit {
                    done,
                    id,
                    head,
                    error,
                }) => match self.was_committed(&id, head).await {
                    Some(true) => return Ok(done),
                    Some(false) => error.into(),
                    None => return Err(StoreError::OutcomeUnknown(error)),
                },
            };
            if !is_passing(&error) || further.next().is_none() {
                return Err(error);
            }
            tracing::warn!(%error, "a change did not happen; it is tried again");
        }
    }

    /// Makes a change that somebody waits for who cannot take it back: while the database is away it is tried again.
    pub(super) async fn persist<C: Change>(&self, change: &C) -> Result<C::Done, StoreError> {
        let deadline = Instant::now() + PERSISTENCE;
        loop {
            match self.change(change).await {
                Err(error) if is_away(&error) && Instant::now() < deadline => {
                    tracing::warn!(%error, "the database is away; the end of a call waits for it");
                    tokio::time::sleep(PAUSE).await;
                }
                ended => return ended,
            }
        }
    }

    async fn attempt<C: Change>(
        &self,
        change: &C,
        last: &mut Option<End>,
    ) -> Result<C::Done, Failed<C::Done>> {
        let prepare = async {
            let notary = self.notary.get().cloned();
            let mut write = Write::begin(&self.pool, notary, last.as_ref()).await?;
            let applied = change.apply(&mut write).await?;
            if matches!(applied, Applied::Changed(_)) {
                write.move_head().await?;
            }
            Ok((write, applied))
        };
        let (write, applied) = in_time(prepare).await.map_err(Failed::Before)?;
        let Write { tx, growth, id, .. } = write;
        match applied {
            Applied::Unchanged(done) => {
                // A connection that cannot say it rolled back is no longer one, which has the same effect.
                let _ = tx.rollback().await;
                Ok(done)
            }
            Applied::Changed(done) => {
                let committed = tokio::time::timeout(PATIENCE, tx.commit()).await;
                let no_answer = || Err(std::io::Error::from(ErrorKind::TimedOut).into());
                match committed.unwrap_or_else(|_| no_answer()) {
                    Ok(()) => {
                        *last = Some(growth.end);
                        Ok(done)
                    }
                    Err(error) => Err(Failed::InCommit {
                        done,
                        id,
                        head: growth.end.head,
                        error,
                    }),
                }
            }
        }
    }

    /// Whether a transaction was committed, if that can be told in time.
    async fn was_committed(&self, id: &str, head: Head) -> Option<bool> {
        let ask = async {
            for _ in 0..TRIES {
                match self.ask_after(id, head).await {
                    Ok(known) => return known,
                    Err(error) => tracing::warn!(%error, "a commit had no answer"),
                }
            }
            None
        };
        tokio::time::timeout(PATIENCE, ask).await.ok().flatten()
    }

    async fn ask_after(&self, id: &str, head: Head) -> Result<Option<bool>, sqlx::Error> {
        // It held the head: whoever gets that after it finds it decided.
        sqlx::query("SELECT seq FROM ledger_head FOR UPDATE")
            .fetch_one(&self.pool)
            .await?;
        // An id that was given out shortly before a crash can be given out again after it; so the record counts, too.
        // (A head without a record is one that nothing was tied on to.)
        let row = sqlx::query(
            "SELECT pg_xact_status($1::xid8) AS status,
                    $2 = 0 OR EXISTS (SELECT FROM audit WHERE seq = $2 AND digest = $3) AS has_record",
        )
        .bind(id)
        .bind(head.seq)
        .bind(head.digest.to_string())
        .fetch_one(&self.pool)
        .await?;
        let status: Option<String> = row.try_get("status")?;
        let has_record: bool = row.try_get("has_record")?;
        Ok(match status.as_deref() {
            Some("committed") => Some(has_record),
            Some("aborted") => Some(false),
            _ => None,
        })
    }
}

/// Waits for something that has changed nothing until it is there.
async fn in_time<T>(what: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    tokio::time::timeout(PATIENCE, what)
        .await
        .unwrap_or(Err(StoreError::Busy))
}

/// Whether an error says that the same change may succeed at once: the connection was lost, or another transaction was in
/// the way.
fn is_passing(error: &StoreError) -> bool {
    match error {
        StoreError::Database(sqlx::Error::Io(_)) => true,
        StoreError::Database(sqlx::Error::Database(error)) => {
            let code = error.code().unwrap_or_default();
            // Serialization failure, deadlock, and the server's shutdowns; class 08 is lost connections.
            let codes = ["40001", "40P01", "57P01", "57P02", "57P03"];
            codes.contains(&&*code) || code.starts_with("08")
        }
        _ => false,
    }
}

/// Whether an error says that nothing was changed because the database is not there, or too busy.
fn is_away(error: &StoreError) -> bool {
    is_passing(error)
        || matches!(
            error,
            StoreError::Busy | StoreError::Database(sqlx::Error::PoolTimedOut)
        )
}
