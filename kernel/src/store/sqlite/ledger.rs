//! The ledger in SQLite: its end as the writer knows it, the tree's tiles, what was signed, and ledgers of before.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use sqlx::sqlite::{SqliteConnection, SqliteExecutor};
use sqlx::{Connection, Row};
use tlog_tiles::{HASH_SIZE, record_hash};

use super::rows_after;
use crate::ledger::checkpoint::Checkpoint;
use crate::ledger::notary::Notary;
use crate::ledger::tree::{Edge, Place, Question, TILE_WIDTH};
use crate::ledger::{Entry, Head, MAX_ENTRY, Record, verify_next};
use crate::store::StoreError;
use crate::store::rows::{HeadRow, unreadable};

/// How many records are taken over at once.
const PAGE: i64 = 1_000;

/// The end of the ledger: all that appending needs.
#[derive(Debug, Clone, Default)]
pub(super) struct End {
    /// The chain's.
    pub(super) head: Head,
    /// The tree's.
    edge: Edge,
    /// How many records the newest checkpoint is about.
    signed: u64,
}

/// What a transaction adds to the ledger.
#[derive(Debug)]
pub(super) struct Growth {
    /// The end as it will be.
    pub(super) end: End,
    /// The tiles that became full.
    full: BTreeMap<Place, Vec<u8>>,
    /// When the last record of it was made.
    at: Option<Timestamp>,
}

impl Growth {
    pub(super) const fn after(end: End) -> Self {
        Self {
            end,
            full: BTreeMap::new(),
            at: None,
        }
    }

    /// Ties an entry on to the chain, as a new leaf of the tree.
    pub(super) async fn append(
        &mut self,
        entry: Entry,
        connection: &mut SqliteConnection,
    ) -> Result<(), StoreError> {
        self.at = Some(entry.at);
        let record = self.end.head.next(entry)?;
        let leaf = record.entry()?;
        if leaf.len() > MAX_ENTRY {
            return Err(StoreError::RecordTooLong(leaf.len()));
        }
        sqlx::query(
            "INSERT INTO audit (seq, at, kind, body, prev, digest) VALUES (?, ?, ?, ?, ?, ?)",
        )
        .bind(record.seq)
        .bind(&record.at)
        .bind(&record.kind)
        .bind(record.body.to_string())
        .bind(record.prev.to_string())
        .bind(record.digest.to_string())
        .execute(connection)
        .await?;
        self.full.extend(self.end.edge.push(record_hash(&leaf)));
        self.end.head = (&record).into();
        Ok(())
    }

    /// Writes the tiles that changed, and a checkpoint if one is due.
    pub(super) async fn write(
        &mut self,
        notary: Option<&Notary>,
        connection: &mut SqliteConnection,
    ) -> Result<(), StoreError> {
        let Some(at) = self.at else {
            return Ok(());
        };
        // A level's partial tile changed if the level below had a tile that became full.
        let top = self.full.keys().next_back();
        let changed = top.map_or(0, |top| top.level.saturating_add(1));
        let partial = self.end.edge.partial();
        let partial = partial.filter(|(place, _)| place.level <= changed);
        let full = self
            .full
            .iter()
            .map(|(at, hashes)| (*at, hashes.as_slice()));
        for (place, hashes) in full.chain(partial) {
            write_tile(place, hashes, connection).await?;
        }
        if let Some(notary) = notary
            && self.end.edge.size().saturating_sub(self.end.signed) >= notary.every()
        {
            self.sign(notary, at, connection).await?;
        }
        Ok(())
    }

    /// Signs the tree as it is, and stores that. INVARIANT: for one size there is one checkpoint, so that nothing that
    /// was signed is ever taken back.
    async fn sign(
        &mut self,
        notary: &Notary,
        at: Timestamp,
        connection: &mut SqliteConnection,
    ) -> Result<(), StoreError> {
        let checkpoint = notary.sign(self.end.edge.size(), self.end.edge.root())?;
        sqlx::query("INSERT INTO ledger_checkpoints (size, at, note) VALUES (?, ?, ?)")
            .bind(signed_size(checkpoint.size())?)
            .bind(at.to_string())
            .bind(checkpoint.text())
            .execute(connection)
            .await?;
        self.end.signed = checkpoint.size();
        Ok(())
    }

    /// Signs the tree as it is, unless that is signed already.
    pub(super) async fn sign_now(
        &mut self,
        notary: &Notary,
        at: Timestamp,
        connection: &mut SqliteConnection,
    ) -> Result<(), StoreError> {
        let has_one = newest_note(&mut *connection).await?.is_some();
        if has_one && self.end.signed == self.end.edge.size() {
            return Ok(());
        }
        self.sign(notary, at, connection).await
    }
}

fn signed_size(size: u64) -> Result<i64, StoreError> {
    i64::try_from(size).map_err(unreadable)
}

async fn write_tile(
    place: Place,
    hashes: &[u8],
    connection: &mut SqliteConnection,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO ledger_tiles (level, place, hashes) VALUES (?, ?, ?)
         ON CONFLICT (level, place) DO UPDATE SET hashes = excluded.hashes",
    )
    .bind(i64::from(place.level))
    .bind(i64::try_from(place.index).map_err(unreadable)?)
    .bind(hashes)
    .execute(connection)
    .await?;
    Ok(())
}

/// A tile, as it is stored.
pub(super) async fn read_tile(
    place: Place,
    reader: impl SqliteExecutor<'_>,
) -> Result<Option<Vec<u8>>, StoreError> {
    let row = sqlx::query("SELECT hashes FROM ledger_tiles WHERE level = ? AND place = ?")
        .bind(i64::from(place.level))
        .bind(i64::try_from(place.index).map_err(unreadable)?)
        .fetch_optional(reader)
        .await?;
    Ok(row.map(|row| row.try_get("hashes")).transpose()?)
}

/// The newest checkpoint, as it is stored.
pub(super) async fn newest_note(
    reader: impl SqliteExecutor<'_>,
) -> Result<Option<String>, StoreError> {
    let row = sqlx::query("SELECT note FROM ledger_checkpoints ORDER BY size DESC LIMIT 1")
        .fetch_optional(reader)
        .await?;
    Ok(row.map(|row| row.try_get("note")).transpose()?)
}

pub(super) async fn read_head(connection: &mut SqliteConnection) -> Result<Head, StoreError> {
    let row: Option<HeadRow> =
        sqlx::query_as("SELECT seq, digest FROM audit ORDER BY seq DESC LIMIT 1")
            .fetch_optional(connection)
            .await?;
    row.map_or(Ok(Head::empty()), Head::try_from)
}

/// Reads the ledger's end.
pub(super) async fn read_end(connection: &mut SqliteConnection) -> Result<End, StoreError> {
    let head = read_head(&mut *connection).await?;
    let size = tree_size(&mut *connection).await?;
    if u64::try_from(head.seq) != Ok(size) {
        return Err(StoreError::Unreadable(format!(
            "the ledger has {} records, and its tree {size} leaves; somebody changed one of them, and `actum ledger verify` tells where; restore the store from a backup",
            head.seq
        )));
    }
    let mut tiles = BTreeMap::new();
    for (place, _) in Edge::places(size) {
        if let Some(hashes) = read_tile(place, &mut *connection).await? {
            tiles.insert(place, hashes);
        }
    }
    let edge = Edge::of(size, &tiles).ok_or_else(|| {
        StoreError::Unreadable(
            "a tile at the end of the ledger's tree is missing or cut off; `actum ledger verify` tells which; restore the store from a backup".to_owned(),
        )
    })?;
    let signed = sqlx::query("SELECT coalesce(max(size), 0) AS signed FROM ledger_checkpoints")
        .fetch_one(connection)
        .await?;
    let signed: i64 = signed.try_get("signed")?;
    Ok(End {
        head,
        edge,
        signed: u64::try_from(signed).map_err(unreadable)?,
    })
}

/// How many leaves there are.
async fn tree_size(connection: &mut SqliteConnection) -> Result<u64, StoreError> {
    let row = sqlx::query(
        "SELECT place, length(hashes) AS bytes FROM ledger_tiles WHERE level = 0
         ORDER BY place DESC LIMIT 1",
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else {
        return Ok(0);
    };
    let (place, bytes): (i64, i64) = (row.try_get("place")?, row.try_get("bytes")?);
    let leaves = place
        .saturating_mul(TILE_WIDTH as i64)
        .saturating_add(bytes / HASH_SIZE as i64);
    u64::try_from(leaves).map_err(unreadable)
}

/// Makes the records of a store that had a chain alone into leaves. The chain is verified on the way: what is signed
/// from now on has to be what it was.
pub(super) async fn take_over(
    connection: &mut SqliteConnection,
    path: &Path,
) -> Result<(), StoreError> {
    let records = read_head(&mut *connection).await?.seq;
    if records == 0 || tree_size(&mut *connection).await? > 0 {
        return Ok(());
    }
    let mut tx = connection.begin().await?;
    let (mut head, mut edge) = (Head::empty(), Edge::default());
    let mut after = i64::MIN;
    loop {
        let page = rows_after(&mut *tx, after, PAGE).await?;
        if page.is_empty() {
            break;
        }
        for row in page {
            let record = Record::try_from(row)?;
            head = verify_next(&head, &record).map_err(|broken| StoreError::Unusable {
                path: path.display().to_string(),
                problem: format!(
                    "its ledger does not hold, so that no kernel can go on with it: {broken}; restore it from a backup, or move it away to begin anew"
                ),
            })?;
            after = head.seq;
            for (place, hashes) in edge.push(record_hash(&record.entry()?)) {
                write_tile(place, &hashes, &mut tx).await?;
            }
        }
    }
    for (place, hashes) in edge.partial() {
        write_tile(place, hashes, &mut tx).await?;
    }
    tx.commit().await?;
    tracing::info!(records, "the ledger's records are now leaves of a tree");
    Ok(())
}

/// Checks that what was last signed is still what the ledger begins with. INVARIANT: nothing is signed that
/// contradicts an earlier checkpoint of the store.
pub(super) async fn check_signed(
    connection: &mut SqliteConnection,
    notary: &Notary,
    end: &End,
) -> Result<(), String> {
    let told = |error: StoreError| error.to_string();
    let Some(note) = newest_note(&mut *connection).await.map_err(told)? else {
        return Ok(());
    };
    let checkpoint = Checkpoint::open(&note, notary.key())
        .map_err(|why| format!("the newest checkpoint of its ledger: {why}; put the keys/ledger.key back that signed it"))?;
    let (size, records) = (checkpoint.size(), end.edge.size());
    if size > records {
        return Err(format!(
            "its ledger was cut off: it has {records} records, and its newest checkpoint is of {size}; restore it from a backup"
        ));
    }
    let question = Question::Root { size };
    let mut tiles = BTreeMap::new();
    for place in question.places().into_keys() {
        if let Some(hashes) = read_tile(place, &mut *connection).await.map_err(told)? {
            tiles.insert(place, hashes);
        }
    }
    match question.answer(&tiles) {
        Ok(root) if root == [checkpoint.root()] => Ok(()),
        _ => Err(format!(
            "its ledger does not begin with the {size} records that its newest checkpoint was signed over; `actum ledger verify` tells where; restore it from a backup"
        )),
    }
}
