//! The board's file, and who is at which task.

use std::path::PathBuf;
use std::time::Duration;

use actum::Call;
use jiff::Timestamp;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use tokio::sync::OnceCell;

use super::{BoardError, Work};

/// What the shipped sample holds.
const SAMPLE: &str = include_str!("../../sample/board.sql");
/// Connections to the file; SQLite lets one of them write at a time.
const CONNECTIONS: u32 = 4;

/// The board, as the host gives it to handlers.
///
/// **Who calls, and at which task:** the principal of a call's grant is one actor (`actors.principal`),
/// and the actor's task is the one that is assigned to it and active. There is at most one; the
/// control plane checks it out, no agent does. The kernel's task is the session that the agent works
/// in, and several of them can go on at one task of the board.
#[derive(Debug)]
pub struct TaskBoard {
    path: PathBuf,
    sample: bool,
    pool: OnceCell<SqlitePool>,
}

impl TaskBoard {
    /// The board in a file. It is opened, and made where it is missing, at its first use.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            sample: false,
            pool: OnceCell::new(),
        }
    }

    /// Fills the board with a small company if nobody is on it yet.
    #[must_use]
    pub fn with_sample(mut self) -> Self {
        self.sample = true;
        self
    }

    /// The board, opened: what is wrong with its file shows now, and not at the first call.
    ///
    /// # Errors
    /// [`BoardError`] when the board cannot be opened.
    pub async fn ready(self) -> Result<Self, BoardError> {
        self.pool().await?;
        Ok(self)
    }

    /// Reads, in the name of a call's actor. What is seen is of one moment.
    ///
    /// # Errors
    /// [`BoardError`] when the board cannot be opened, or the principal is nobody on it.
    pub async fn look(&self, call: &Call) -> Result<Work, BoardError> {
        let tx = self.pool().await?.begin().await?;
        Work::of(tx, call).await
    }

    /// Begins a change, in the name of a call's actor. Others wait until it ends.
    ///
    /// # Errors
    /// As those of [`look`](Self::look).
    pub async fn begin(&self, call: &Call) -> Result<Work, BoardError> {
        let tx = self.pool().await?.begin_with("BEGIN IMMEDIATE").await?;
        Work::of(tx, call).await
    }

    /// Begins a change of the control plane's own, which no agent can ask for.
    ///
    /// # Errors
    /// [`BoardError`] when the board cannot be opened.
    pub async fn control_plane(&self, at: Timestamp) -> Result<Work, BoardError> {
        let tx = self.pool().await?.begin_with("BEGIN IMMEDIATE").await?;
        Ok(Work::of_control_plane(tx, at))
    }

    /// Closes the file in good order.
    pub async fn close(&self) {
        if let Some(pool) = self.pool.get() {
            pool.close().await;
        }
    }

    async fn pool(&self) -> Result<&SqlitePool, BoardError> {
        self.pool.get_or_try_init(|| self.open()).await
    }

    async fn open(&self) -> Result<SqlitePool, BoardError> {
        let unusable = |problem: String| BoardError::Unusable {
            path: self.path.display().to_string(),
            problem,
        };
        if let Some(folder) = self.path.parent() {
            make_private(folder).map_err(|error| unusable(error.to_string()))?;
        }
        let options = SqliteConnectOptions::new()
            .filename(&self.path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(5));
        let pool = SqlitePoolOptions::new()
            .max_connections(CONNECTIONS)
            .connect_with(options)
            .await
            .map_err(|error| unusable(error.to_string()))?;
        sqlx::migrate!("./migrations")
            .run(&pool)
            .await
            .map_err(|error| unusable(error.to_string()))?;
        if self.sample {
            fill(&pool).await?;
        }
        Ok(pool)
    }
}

async fn fill(pool: &SqlitePool) -> Result<(), BoardError> {
    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
    let actors: i64 = sqlx::query_scalar("SELECT count(*) FROM actors")
        .fetch_one(&mut *tx)
        .await?;
    if actors == 0 {
        sqlx::raw_sql(SAMPLE).execute(&mut *tx).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Secrets are kept in the file: a folder that is made for it is its owner's alone.
fn make_private(folder: &std::path::Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder)
}
