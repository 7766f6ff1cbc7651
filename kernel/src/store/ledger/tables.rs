//! The tables of the ledger: `audit`, `ledger_tiles`, `ledger_checkpoints`.

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use tlog_tiles::HASH_SIZE;

use crate::ledger::checkpoint::Checkpoint;
use crate::ledger::tree::{Place, TILE_WIDTH};
use crate::ledger::{Head, Record};
use crate::store::StoreError;
use crate::store::rows::{HeadRow, RecordRow, unreadable};

/// A connection, as one asks it about the ledger.
#[async_trait]
pub(in crate::store) trait Tables: Send {
    /// Whether there are tables for the tree at all: an earlier version did not have them.
    async fn has_tree(&mut self) -> Result<bool, StoreError>;

    /// The end of the chain, by its last record.
    async fn newest_record(&mut self) -> Result<Head, StoreError>;

    /// Records after a place, in order.
    async fn records_after(&mut self, seq: i64, limit: i64) -> Result<Vec<RecordRow>, StoreError>;

    /// Appends a record.
    async fn insert_record(&mut self, record: &Record) -> Result<(), StoreError>;

    /// How many leaves the tree has.
    async fn leaves(&mut self) -> Result<u64, StoreError>;

    /// A tile, as it is stored.
    async fn tile(&mut self, place: Place) -> Result<Option<Vec<u8>>, StoreError>;

    /// Stores a tile, or a longer form of one.
    async fn put_tile(&mut self, place: Place, hashes: &[u8]) -> Result<(), StoreError>;

    /// The checkpoints, smallest first.
    async fn notes(&mut self) -> Result<Vec<String>, StoreError>;

    /// The newest checkpoint.
    async fn newest_note(&mut self) -> Result<Option<String>, StoreError>;

    /// How many records that is about; 0 where there is none.
    async fn signed(&mut self) -> Result<u64, StoreError>;

    /// Appends a checkpoint.
    async fn insert_checkpoint(
        &mut self,
        checkpoint: &Checkpoint,
        at: Timestamp,
    ) -> Result<(), StoreError>;
}

/// The same statements for a database of another kind. Only where it keeps the names of its tables differs.
macro_rules! tables_of {
    ($connection:ty, $has_tree:literal) => {
        #[async_trait]
        impl Tables for $connection {
            async fn has_tree(&mut self) -> Result<bool, StoreError> {
                Ok(sqlx::query_scalar($has_tree).fetch_one(self).await?)
            }

            async fn newest_record(&mut self) -> Result<Head, StoreError> {
                let row: Option<HeadRow> =
                    sqlx::query_as("SELECT seq, digest FROM audit ORDER BY seq DESC LIMIT 1")
                        .fetch_optional(self)
                        .await?;
                row.map_or(Ok(Head::empty()), Head::try_from)
            }

            async fn records_after(
                &mut self,
                seq: i64,
                limit: i64,
            ) -> Result<Vec<RecordRow>, StoreError> {
                let rows = sqlx::query_as(
                    "SELECT seq, at, kind, body, prev, digest FROM audit WHERE seq > $1
                     ORDER BY seq LIMIT $2",
                )
                .bind(seq)
                .bind(limit)
                .fetch_all(self)
                .await?;
                Ok(rows)
            }

            async fn insert_record(&mut self, record: &Record) -> Result<(), StoreError> {
                sqlx::query(
                    "INSERT INTO audit (seq, at, kind, body, prev, digest)
                     VALUES ($1, $2, $3, $4, $5, $6)",
                )
                .bind(record.seq)
                .bind(&record.at)
                .bind(&record.kind)
                .bind(record.body.to_string())
                .bind(record.prev.to_string())
                .bind(record.digest.to_string())
                .execute(self)
                .await?;
                Ok(())
            }

            async fn leaves(&mut self) -> Result<u64, StoreError> {
                let last: Option<(i64, i64)> = sqlx::query_as(
                    "SELECT place, CAST(length(hashes) AS BIGINT) FROM ledger_tiles
                     WHERE level = 0 ORDER BY place DESC LIMIT 1",
                )
                .fetch_optional(self)
                .await?;
                let leaves = last.map_or(0, |(place, bytes)| {
                    place
                        .saturating_mul(TILE_WIDTH as i64)
                        .saturating_add(bytes / HASH_SIZE as i64)
                });
                u64::try_from(leaves).map_err(unreadable)
            }

            async fn tile(&mut self, place: Place) -> Result<Option<Vec<u8>>, StoreError> {
                let hashes = sqlx::query_scalar(
                    "SELECT hashes FROM ledger_tiles WHERE level = $1 AND place = $2",
                )
                .bind(i64::from(place.level))
                .bind(i64::try_from(place.index).map_err(unreadable)?)
                .fetch_optional(self)
                .await?;
                Ok(hashes)
            }

            async fn put_tile(&mut self, place: Place, hashes: &[u8]) -> Result<(), StoreError> {
                sqlx::query(
                    "INSERT INTO ledger_tiles (level, place, hashes) VALUES ($1, $2, $3)
                     ON CONFLICT (level, place) DO UPDATE SET hashes = excluded.hashes",
                )
                .bind(i64::from(place.level))
                .bind(i64::try_from(place.index).map_err(unreadable)?)
                .bind(hashes)
                .execute(self)
                .await?;
                Ok(())
            }

            async fn notes(&mut self) -> Result<Vec<String>, StoreError> {
                let notes = sqlx::query_scalar("SELECT note FROM ledger_checkpoints ORDER BY size")
                    .fetch_all(self)
                    .await?;
                Ok(notes)
            }

            async fn newest_note(&mut self) -> Result<Option<String>, StoreError> {
                let note = sqlx::query_scalar(
                    "SELECT note FROM ledger_checkpoints ORDER BY size DESC LIMIT 1",
                )
                .fetch_optional(self)
                .await?;
                Ok(note)
            }

            async fn signed(&mut self) -> Result<u64, StoreError> {
                let signed: i64 =
                    sqlx::query_scalar("SELECT coalesce(max(size), 0) FROM ledger_checkpoints")
                        .fetch_one(self)
                        .await?;
                u64::try_from(signed).map_err(unreadable)
            }

            async fn insert_checkpoint(
                &mut self,
                checkpoint: &Checkpoint,
                at: Timestamp,
            ) -> Result<(), StoreError> {
                sqlx::query("INSERT INTO ledger_checkpoints (size, at, note) VALUES ($1, $2, $3)")
                    .bind(i64::try_from(checkpoint.size()).map_err(unreadable)?)
                    .bind(at.to_string())
                    .bind(checkpoint.text())
                    .execute(self)
                    .await?;
                Ok(())
            }
        }
    };
}

tables_of!(
    SqliteConnection,
    "SELECT count(*) = 2 FROM sqlite_schema
     WHERE type = 'table' AND name IN ('ledger_tiles', 'ledger_checkpoints')"
);
tables_of!(
    PgConnection,
    "SELECT to_regclass('ledger_tiles') IS NOT NULL AND to_regclass('ledger_checkpoints') IS NOT NULL"
);
