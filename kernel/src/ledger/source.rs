//! Where a ledger is read from: a database at one moment, or a folder that was exported.

use std::collections::BTreeMap;

use async_trait::async_trait;
use tlog_tiles::{HASH_SIZE, Hash};

use super::checkpoint::{Checkpoint, PublicKey};
use super::tree::{Place, Question};
use super::{Broken, Record};
use crate::store::StoreError;

/// A ledger that is read as it was at one moment. Nothing that it says is believed: whoever reads it checks.
#[async_trait]
pub trait Source: Send {
    /// Its checkpoints as they are stored, smallest first.
    async fn notes(&mut self) -> Result<Vec<String>, StoreError>;

    /// The newest of them.
    async fn newest_note(&mut self) -> Result<Option<String>, StoreError>;

    /// Some records after a place, in order; none at the end. [`Broken`] for what cannot be read as a record.
    async fn records_after(&mut self, seq: i64) -> Result<Vec<Result<Record, Broken>>, StoreError>;

    /// A tile, as it is stored, at least `width` hashes wide if it is whole.
    async fn tile(&mut self, place: Place, width: usize) -> Result<Option<Vec<u8>>, StoreError>;
}

/// Why a source has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// It cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It has no checkpoint.
    #[error(
        "the ledger has no checkpoint; the kernel signs one when it starts, so start it once. If it was started before, its checkpoints were removed"
    )]
    NothingSigned,
    /// Its newest checkpoint is not one of the key.
    #[error("the ledger's newest checkpoint: {0}")]
    NoCheckpoint(#[from] super::checkpoint::NoCheckpoint),
    /// A tile is missing or cut off.
    #[error(
        "tile {}/{} of the ledger's tree is missing or cut off; `actum ledger verify` tells what else is",
        .0.level, .0.index
    )]
    NoTile(Place),
    /// The tiles are not those of the newest checkpoint.
    #[error(
        "the ledger's tree is not the one that its newest checkpoint, of {size} records, was signed over; `actum ledger verify` tells where"
    )]
    OtherTree {
        /// Its size.
        size: u64,
    },
    /// A record that is not there, or not yet.
    #[error("{0}")]
    NoRecord(String),
}

/// The newest checkpoint.
///
/// # Errors
/// [`Unanswered`] when there is none, or it is not one of the key.
pub async fn newest(source: &mut dyn Source, key: &PublicKey) -> Result<Checkpoint, Unanswered> {
    let note = source.newest_note().await?;
    Ok(Checkpoint::open(
        &note.ok_or(Unanswered::NothingSigned)?,
        key,
    )?)
}

/// Answers a question out of the tiles that it needs.
///
/// # Errors
/// [`Unanswered`] with the tile that is not there.
pub async fn answer(
    source: &mut dyn Source,
    question: Question,
    size: u64,
) -> Result<Vec<Hash>, Unanswered> {
    let mut tiles = BTreeMap::new();
    for (place, least) in question.places() {
        // An export has a partial tile as wide as its checkpoint makes it, and no narrower.
        let tile = source.tile(place, place.width(size)).await?;
        let tile = tile.filter(|hashes| hashes.len() >= least * HASH_SIZE);
        tiles.insert(place, tile.ok_or(Unanswered::NoTile(place))?);
    }
    question
        .answer(&tiles)
        .map_err(|_| Unanswered::OtherTree { size })
}
