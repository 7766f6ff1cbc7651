//! The store of whatever kind that is read beside the kernels: for the owner and the auditor.

use std::path::Path;

use actum::Digest;
use async_trait::async_trait;
use ulid::Ulid;

use super::ledger::{PAGE, Tables};
use super::postgres::PostgresArchive;
use super::rows::RecordRow;
use super::sqlite::SqliteArchive;
use super::{ActiveArtifacts, ArchivedCall, ArchivedTask, CommissionedTask, StoreError};
use crate::ledger::source::Source;
use crate::ledger::tree::Place;
use crate::ledger::{Broken, Head, Record};

/// A store, as it was at one moment. Reading it takes no lock and writes nothing.
#[derive(Debug)]
pub enum Archive {
    /// A file that one kernel writes.
    Sqlite(SqliteArchive),
    /// A database that several kernels write.
    Postgres(Box<PostgresArchive>),
}

/// The same question to whichever it is.
macro_rules! ask {
    ($archive:expr, $of:ident => $question:expr) => {
        match $archive {
            Archive::Sqlite($of) => $question.await,
            Archive::Postgres($of) => $question.await,
        }
    };
}

impl Archive {
    /// Opens the store in a folder, or the one whose URL stands in a file.
    ///
    /// # Errors
    /// [`StoreError`] when there is none, or it cannot be read.
    pub async fn open(data: &Path, postgres_url_file: Option<&Path>) -> Result<Self, StoreError> {
        Ok(match postgres_url_file {
            None => Self::Sqlite(SqliteArchive::open(data).await?),
            Some(url_file) => Self::Postgres(Box::new(PostgresArchive::open(url_file).await?)),
        })
    }

    /// A task.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    pub async fn task(&mut self, id: Ulid) -> Result<Option<ArchivedTask>, StoreError> {
        ask!(self, archive => archive.task(id))
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
        ask!(self, archive => archive.commissioned(task, limit))
    }

    /// The ids of the newest tasks, the newest first.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn newest_tasks(&mut self, limit: i64) -> Result<Vec<String>, StoreError> {
        ask!(self, archive => archive.newest_tasks(limit))
    }

    /// A catalog by its digest, as canonical JSON. Whether the digest fits is for the caller to see.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    pub async fn catalog(&mut self, digest: Digest) -> Result<Option<String>, StoreError> {
        ask!(self, archive => archive.catalog(digest))
    }

    /// What a task was shown of its catalog and why no more, by its digest, as canonical JSON. Whether the digest
    /// fits is for the caller to see.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    pub async fn exposures(&mut self, digest: Digest) -> Result<Option<String>, StoreError> {
        ask!(self, archive => archive.exposures(digest))
    }

    /// The active artifacts; none in a store of before there were any.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn active_artifacts(&mut self) -> Result<ActiveArtifacts, StoreError> {
        ask!(self, archive => archive.active_artifacts())
    }

    /// The first calls of a task, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn calls(&mut self, task: Ulid, limit: i64) -> Result<Vec<ArchivedCall>, StoreError> {
        ask!(self, archive => archive.calls(task, limit))
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
        ask!(self, archive => archive.ledger(each))
    }

    fn tables(&mut self) -> &mut dyn Tables {
        match self {
            Self::Sqlite(archive) => archive.tables(),
            Self::Postgres(archive) => archive.tables(),
        }
    }
}

/// A store of an earlier version has a chain alone, and so has one whose other tables somebody dropped.
#[async_trait]
impl Source for Archive {
    async fn notes(&mut self) -> Result<Vec<String>, StoreError> {
        let tables = self.tables();
        match tables.has_tree().await? {
            true => tables.notes().await,
            false => Ok(Vec::new()),
        }
    }

    async fn newest_note(&mut self) -> Result<Option<String>, StoreError> {
        let tables = self.tables();
        match tables.has_tree().await? {
            true => tables.newest_note().await,
            false => Ok(None),
        }
    }

    async fn records_after(&mut self, seq: i64) -> Result<Vec<Result<Record, Broken>>, StoreError> {
        let rows = self.tables().records_after(seq, PAGE).await?;
        Ok(rows.into_iter().map(RecordRow::read).collect())
    }

    async fn tile(&mut self, place: Place, _: usize) -> Result<Option<Vec<u8>>, StoreError> {
        let tables = self.tables();
        match tables.has_tree().await? {
            true => tables.tile(place).await,
            false => Ok(None),
        }
    }
}
