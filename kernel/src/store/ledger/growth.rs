//! The ledger's end, and what a transaction adds to it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use tlog_tiles::record_hash;

use super::Tables;
use crate::ledger::notary::Notary;
use crate::ledger::tree::{Edge, Place};
use crate::ledger::{Entry, Head, MAX_ENTRY};
use crate::store::StoreError;
use crate::store::rows::unreadable;

/// The end of the ledger: all that appending needs.
#[derive(Debug, Clone, Default)]
pub(in crate::store) struct End {
    /// The chain's.
    pub(in crate::store) head: Head,
    /// How many records the newest checkpoint is about.
    pub(in crate::store) signed: u64,
    /// The tree's.
    edge: Edge,
}

impl End {
    /// Reads the end of a ledger, whose chain and tree have to be of one length.
    pub(in crate::store) async fn read(tables: &mut dyn Tables) -> Result<Self, StoreError> {
        let head = tables.newest_record().await?;
        let leaves = tables.leaves().await?;
        if u64::try_from(head.seq) != Ok(leaves) {
            return Err(StoreError::Unreadable(format!(
                "the ledger has {} records, and its tree {leaves} leaves; somebody changed one of them, and `actum ledger verify` tells where; restore the store from a backup",
                head.seq
            )));
        }
        let signed = tables.signed().await?;
        Self::of(head, signed, tables).await
    }

    /// Reads what belongs to the end of a chain: the right edge of its tree.
    pub(in crate::store) async fn of(
        head: Head,
        signed: u64,
        tables: &mut dyn Tables,
    ) -> Result<Self, StoreError> {
        let size = u64::try_from(head.seq).map_err(unreadable)?;
        let mut tiles = BTreeMap::new();
        for (place, _) in Edge::places(size) {
            if let Some(hashes) = tables.tile(place).await? {
                tiles.insert(place, hashes);
            }
        }
        let edge = Edge::of(size, &tiles).ok_or_else(|| {
            StoreError::Unreadable(
                "a tile at the end of the ledger's tree is missing or cut off; `actum ledger verify` tells which; restore the store from a backup".to_owned(),
            )
        })?;
        Ok(Self { head, signed, edge })
    }

    /// How many records there are.
    pub(in crate::store) const fn size(&self) -> u64 {
        self.edge.size()
    }
}

/// What a transaction adds to the ledger.
#[derive(Debug)]
pub(in crate::store) struct Growth {
    /// The end as it will be.
    pub(in crate::store) end: End,
    /// The tiles that became full.
    full: BTreeMap<Place, Vec<u8>>,
    /// When the last record of it was made.
    at: Option<Timestamp>,
}

impl Growth {
    pub(in crate::store) const fn after(end: End) -> Self {
        Self {
            end,
            full: BTreeMap::new(),
            at: None,
        }
    }

    /// Ties an entry on to the chain, as a new leaf of the tree.
    pub(in crate::store) async fn append(
        &mut self,
        entry: Entry,
        tables: &mut dyn Tables,
    ) -> Result<(), StoreError> {
        self.at = Some(entry.at);
        let record = self.end.head.next(entry)?;
        let leaf = record.entry()?;
        if leaf.len() > MAX_ENTRY {
            return Err(StoreError::RecordTooLong(leaf.len()));
        }
        tables.insert_record(&record).await?;
        self.full.extend(self.end.edge.push(record_hash(&leaf)));
        self.end.head = (&record).into();
        Ok(())
    }

    /// Writes the tiles that changed, and a checkpoint if one is due.
    pub(in crate::store) async fn write(
        &mut self,
        notary: Option<&Notary>,
        tables: &mut dyn Tables,
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
            tables.put_tile(place, hashes).await?;
        }
        if let Some(notary) = notary
            && self.end.size().saturating_sub(self.end.signed) >= notary.every()
        {
            self.sign(notary, at, tables).await?;
        }
        Ok(())
    }

    /// Signs the tree as it is, and stores that. INVARIANT: for one size there is one checkpoint, so that nothing that
    /// was signed is ever taken back.
    pub(in crate::store) async fn sign(
        &mut self,
        notary: &Notary,
        at: Timestamp,
        tables: &mut dyn Tables,
    ) -> Result<(), StoreError> {
        let checkpoint = notary.sign(self.end.size(), self.end.edge.root())?;
        tables.insert_checkpoint(&checkpoint, at).await?;
        self.end.signed = checkpoint.size();
        Ok(())
    }

    /// Signs the tree as it is, unless that is signed already; whether it was not.
    pub(in crate::store) async fn sign_now(
        &mut self,
        notary: &Notary,
        at: Timestamp,
        tables: &mut dyn Tables,
    ) -> Result<bool, StoreError> {
        let has_one = tables.newest_note().await?.is_some();
        if has_one && self.end.signed == self.end.size() {
            return Ok(false);
        }
        self.sign(notary, at, tables).await?;
        Ok(true)
    }
}
