//! The store that is read beside the kernels that share it, as it was at one moment: a transaction that only reads, of one
//! snapshot (<https://www.postgresql.org/docs/current/transaction-iso.html>).

use std::path::Path;

use actum::Digest;
use sqlx::Executor;
use sqlx::postgres::PgConnection;
use ulid::Ulid;

use super::connect;
use crate::ledger::{Broken, Head, Record};
use crate::store::artifacts::Tables as _;
use crate::store::ledger::{Tables, chain};
use crate::store::lineage::Tables as _;
use crate::store::rows::ArchivedTaskRow;
use crate::store::{ActiveArtifacts, ArchivedCall, ArchivedTask, CommissionedTask, StoreError};

/// A store, as it was at one moment.
#[derive(Debug)]
pub struct PostgresArchive {
    connection: PgConnection,
}

impl PostgresArchive {
    /// Opens the database whose URL stands in a file.
    ///
    /// # Errors
    /// [`StoreError`] when there is no store, or it cannot be read.
    pub async fn open(url_file: &Path) -> Result<Self, StoreError> {
        let mut connection = connect::open_to_read(url_file).await?;
        // The moment is that of the first read.
        connection
            .execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            .await?;
        connection.execute("SELECT seq FROM ledger_head").await?;
        Ok(Self { connection })
    }

    /// A task.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    pub async fn task(&mut self, id: Ulid) -> Result<Option<ArchivedTask>, StoreError> {
        let row: Option<ArchivedTaskRow> = sqlx::query_as(
            "SELECT grant_body, message, expires_at, revoked_at, parent_id, ended_at, outcome, report
             FROM tasks WHERE id = $1",
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
        let ids = sqlx::query_scalar("SELECT id FROM tasks ORDER BY id DESC LIMIT $1")
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
        let body = sqlx::query_scalar("SELECT body FROM catalogs WHERE digest = $1")
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
        let body = sqlx::query_scalar("SELECT body FROM exposures WHERE digest = $1")
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
        self.connection.active_artifacts().await
    }

    /// The first calls of a task, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn calls(&mut self, task: Ulid, limit: i64) -> Result<Vec<ArchivedCall>, StoreError> {
        let calls = sqlx::query_as(
            "SELECT id, action, state, created_at, updated_at FROM calls
             WHERE task_id = $1 ORDER BY id LIMIT $2",
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
