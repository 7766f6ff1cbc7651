//! A store that is read beside whatever kernel has it open: for the owner and the auditor.
//!
//! It takes no lock and writes nothing. All that is read comes from one moment, since it is one read transaction
//! of SQLite's WAL: what a kernel writes meanwhile is not seen (<https://www.sqlite.org/isolation.html>).

use std::path::Path;

use actum::{Digest, SealedGrant};
use jiff::Timestamp;
use sqlx::Connection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use ulid::Ulid;

use super::{FILE, told};
use crate::ledger::{Broken, Head, Record};
use crate::store::artifacts::Tables as _;
use crate::store::ledger::{Tables, chain};
use crate::store::lineage::Tables as _;
use crate::store::rows::ArchivedTaskRow;
use crate::store::{ActiveArtifacts, CommissionedTask, StoreError, TaskEnd};

/// A store, as it was at one moment.
#[derive(Debug)]
pub struct SqliteArchive {
    connection: SqliteConnection,
}

/// A task as it is stored, whether or not it is over.
#[derive(Debug, Clone)]
pub struct ArchivedTask {
    /// Its grant.
    pub grant: SealedGrant,
    /// What the event's sender wrote.
    pub message: Option<String>,
    /// When its grant is over, as the row says.
    pub expires_at: Timestamp,
    /// When it was taken back.
    pub revoked_at: Option<Timestamp>,
    /// The task that commissioned it.
    pub parent: Option<Ulid>,
    /// How it ended, if its worker said so.
    pub end: Option<TaskEnd>,
}

/// A call as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ArchivedCall {
    /// Its id.
    pub id: String,
    /// The action.
    pub action: String,
    /// Its state, one word.
    pub state: String,
    /// When it was stored, RFC 3339 UTC.
    pub created_at: String,
    /// When its state last changed.
    pub updated_at: String,
}

impl SqliteArchive {
    /// Opens the store in a folder.
    ///
    /// # Errors
    /// [`StoreError`] when there is none, or it cannot be read.
    pub async fn open(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(FILE);
        if !path.is_file() {
            return Err(StoreError::Unusable {
                path: path.display().to_string(),
                problem: "there is no store here; name the kernel's `data` folder".to_owned(),
            });
        }
        let begin = async || {
            let options = SqliteConnectOptions::new().filename(&path).read_only(true);
            let mut connection = SqliteConnection::connect_with(&options).await?;
            sqlx::query("BEGIN").execute(&mut connection).await?;
            // The moment is that of the first read.
            sqlx::query("SELECT count(*) FROM sqlite_schema")
                .execute(&mut connection)
                .await?;
            Ok(connection)
        };
        let connection = begin().await.map_err(|error| told(&path, &error))?;
        Ok(Self { connection })
    }

    /// A task.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    pub async fn task(&mut self, id: Ulid) -> Result<Option<ArchivedTask>, StoreError> {
        let row: Option<ArchivedTaskRow> = sqlx::query_as(
            "SELECT grant_body, message, expires_at, revoked_at, parent_id, ended_at, outcome, report
             FROM tasks WHERE id = ?",
        )
        .bind(id.to_string())
        .fetch_optional(&mut self.connection)
        .await?;
        row.map(ArchivedTask::try_from).transpose()
    }

    /// The newest tasks that a task commissioned, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn commissioned(
        &mut self,
        task: Ulid,
        limit: i64,
    ) -> Result<Vec<CommissionedTask>, StoreError> {
        self.connection.commissioned(task, limit).await
    }

    /// The ids of the newest tasks, the newest first.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn newest_tasks(&mut self, limit: i64) -> Result<Vec<String>, StoreError> {
        let ids = sqlx::query_scalar("SELECT id FROM tasks ORDER BY id DESC LIMIT ?")
            .bind(limit)
            .fetch_all(&mut self.connection)
            .await?;
        Ok(ids)
    }

    /// A catalog by its digest, as canonical JSON. Whether the digest fits is for the caller to see.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    pub async fn catalog(&mut self, digest: Digest) -> Result<Option<String>, StoreError> {
        let body = sqlx::query_scalar("SELECT body FROM catalogs WHERE digest = ?")
            .bind(digest.to_string())
            .fetch_optional(&mut self.connection)
            .await?;
        Ok(body)
    }

    /// What a task was shown of its catalog and why no more, by its digest, as canonical JSON. Whether the digest
    /// fits is for the caller to see.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    pub async fn exposures(&mut self, digest: Digest) -> Result<Option<String>, StoreError> {
        let body = sqlx::query_scalar("SELECT body FROM exposures WHERE digest = ?")
            .bind(digest.to_string())
            .fetch_optional(&mut self.connection)
            .await?;
        Ok(body)
    }

    /// The active artifacts; none in a store of before there were any.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn active_artifacts(&mut self) -> Result<ActiveArtifacts, StoreError> {
        let has = sqlx::query("SELECT 1 FROM sqlite_schema WHERE name = 'artifact_changes'")
            .fetch_optional(&mut self.connection)
            .await?;
        match has {
            Some(_) => self.connection.active_artifacts().await,
            None => Ok(ActiveArtifacts::default()),
        }
    }

    /// The first calls of a task, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn calls(&mut self, task: Ulid, limit: i64) -> Result<Vec<ArchivedCall>, StoreError> {
        let calls = sqlx::query_as(
            "SELECT id, action, state, created_at, updated_at FROM calls
             WHERE task_id = ? ORDER BY id LIMIT ?",
        )
        .bind(task.to_string())
        .bind(limit)
        .fetch_all(&mut self.connection)
        .await?;
        Ok(calls)
    }

    /// The connection, as one asks it about the ledger.
    pub(in crate::store) fn tables(&mut self) -> &mut dyn Tables {
        &mut self.connection
    }

    /// Goes through the ledger from its beginning and gives its end. `each` gets every record up to where the chain
    /// does not hold.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read; inside, [`Broken`] with the place where it does not hold.
    pub async fn ledger(
        &mut self,
        each: impl FnMut(&Record),
    ) -> Result<Result<Head, Broken>, StoreError> {
        chain(&mut self.connection, each).await
    }
}

/// Verifies the chain of the ledger in a folder, whether or not a kernel has it open; gives its end.
///
/// # Errors
/// [`StoreError`] when it cannot be read; inside, [`Broken`] with the place where it does not hold.
pub async fn verify_file(folder: &Path) -> Result<Result<Head, Broken>, StoreError> {
    let mut archive = SqliteArchive::open(folder).await?;
    let ledger = archive.ledger(|_| ()).await;
    let path = folder.join(FILE);
    ledger.map_err(|error| match error {
        StoreError::Database(error) => told(&path, &error),
        other => other,
    })
}
