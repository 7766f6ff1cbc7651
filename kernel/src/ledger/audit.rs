//! The whole check: records, chain, tree and checkpoints, by the public key alone.
//!
//! Every leaf is computed anew, so that nothing is believed but signatures. The tree that comes of them has to be the
//! one that is stored, and at the size of each checkpoint its root has to be the one that was signed. A checkpoint
//! that somebody else kept finds what no other check can: a ledger that was cut off, or written anew with the key.

use tlog_tiles::{HASH_SIZE, record_hash};

use super::checkpoint::{BySize, Checkpoint, NoCheckpoint, PublicKey};
use super::source::Source;
use super::tree::{Edge, Place};
use super::{Broken, Head, verify_next};
use crate::store::StoreError;

/// The most faults that are told; one cause can show at every place after it.
const MOST: usize = 20;

/// Where a ledger does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Its chain does not.
    #[error(transparent)]
    Chain(#[from] Broken),
    /// A record is longer than a leaf may be, or has no canonical form.
    #[error("record {0} cannot be a leaf of the tree")]
    NoLeaf(i64),
    /// What is given as a checkpoint is none of this key.
    #[error("{which}: {why}")]
    NoCheckpoint {
        /// Where it stands.
        which: String,
        /// Why it is none.
        why: NoCheckpoint,
    },
    /// Records are not those that a checkpoint was signed over.
    #[error("records {from} to {to} are not all those that {which} was signed over")]
    Rewritten {
        /// The first that may be another.
        from: u64,
        /// The last.
        to: u64,
        /// The checkpoint.
        which: String,
    },
    /// The end is missing.
    #[error(
        "its end was cut off: there are {end} records, and {which} was signed over {size}; those from {} to {size} are missing", .end + 1
    )]
    CutOff {
        /// The records that there are.
        end: u64,
        /// The records that the checkpoint is about.
        size: u64,
        /// The checkpoint.
        which: String,
    },
    /// A stored tile is not what its records make.
    #[error("tile {level}/{index} of the tree is not that of records {from} to {to}")]
    Tile {
        /// Its level.
        level: u8,
        /// Its place in the level.
        index: u64,
        /// The first record below it.
        from: u64,
        /// The last.
        to: u64,
    },
    /// Nothing vouches for the records.
    #[error(
        "no checkpoint of its own vouches for it; the kernel signs one when it starts, so start it once. If it was started before, its checkpoints were removed"
    )]
    NothingSigned,
    /// There are more faults than are told.
    #[error("and {0} more of the kind")]
    More(usize),
}

/// What an audit found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Findings {
    /// The end of the chain, as far as it holds.
    pub head: Head,
    /// How many records the newest checkpoint that fits is about.
    pub vouched: u64,
    /// Everything that is wrong, in the order of the ledger; nothing after a break of the chain is told.
    pub faults: Vec<Fault>,
}

/// Checks a ledger against its key and against checkpoints that were kept elsewhere, each with the words for where.
///
/// # Errors
/// [`StoreError`] when the ledger cannot be read.
pub async fn audit(
    source: &mut dyn Source,
    key: &PublicKey,
    kept: &[(String, String)],
) -> Result<Findings, StoreError> {
    let stored = source.notes().await?;
    let mut audit = Audit::default();
    for note in &stored {
        audit.expect("a stored checkpoint", note, key);
    }
    for (which, note) in kept {
        audit.expect(which, note, key);
    }
    // A store of a version that had no tree is told so once, and not with every tile.
    let leaves = Place { level: 0, index: 0 };
    let has_tree = !stored.is_empty() || source.tile(leaves, 1).await?.is_some();
    audit.meet_checkpoints();
    let mut after = i64::MIN;
    loop {
        let page = source.records_after(after).await?;
        if page.is_empty() {
            break;
        }
        for record in page {
            let next = record.and_then(|record| Ok((verify_next(&audit.head, &record)?, record)));
            let (head, record) = match next {
                Ok(next) => next,
                Err(broken) => return Ok(audit.broken(broken.into())),
            };
            let Ok(entry) = record.entry() else {
                return Ok(audit.broken(Fault::NoLeaf(record.seq)));
            };
            let full = audit.edge.push(record_hash(&entry));
            (audit.head, after) = (head, head.seq);
            for (place, hashes) in full {
                if has_tree {
                    let found = source.tile(place, hashes.len() / HASH_SIZE).await?;
                    audit.compare(place, &hashes, found.as_deref());
                }
            }
            audit.meet_checkpoints();
        }
    }
    let partial: Vec<(Place, Vec<u8>)> = audit
        .edge
        .partial()
        .map(|(place, hashes)| (place, hashes.to_vec()))
        .collect();
    for (place, hashes) in partial {
        if has_tree {
            let found = source.tile(place, hashes.len() / HASH_SIZE).await?;
            audit.compare(place, &hashes, found.as_deref());
        }
    }
    if stored.is_empty() && audit.head.seq > 0 {
        audit.faults.push(Fault::NothingSigned);
    }
    Ok(audit.end())
}

/// An audit under way.
#[derive(Default)]
struct Audit {
    head: Head,
    edge: Edge,
    /// Checkpoints that are not met yet.
    due: BySize,
    vouched: u64,
    /// Whether a checkpoint did not fit: those after it cannot fit either, and are not told.
    is_rewritten: bool,
    faults: Vec<Fault>,
}

impl Audit {
    fn expect(&mut self, which: &str, note: &str, key: &PublicKey) {
        match Checkpoint::open(note, key) {
            Ok(checkpoint) => {
                let size = checkpoint.size();
                let met = self.due.entry(size).or_default();
                met.push((which.to_owned(), checkpoint));
            }
            Err(why) => self.faults.push(Fault::NoCheckpoint {
                which: which.to_owned(),
                why,
            }),
        }
    }

    /// Holds the tree as it is now against the checkpoints of its size.
    fn meet_checkpoints(&mut self) {
        let Some(met) = self.due.remove(&self.edge.size()) else {
            return;
        };
        let root = self.edge.root();
        for (which, checkpoint) in met {
            if checkpoint.root() == root {
                self.vouched = checkpoint.size();
            } else if !std::mem::replace(&mut self.is_rewritten, true) {
                self.faults.push(Fault::Rewritten {
                    from: self.vouched.saturating_add(1),
                    to: checkpoint.size(),
                    which,
                });
            }
        }
    }

    fn compare(&mut self, place: Place, hashes: &[u8], found: Option<&[u8]>) {
        if found != Some(hashes) {
            let (from, to) = place.records(hashes.len() / HASH_SIZE);
            let Place { level, index } = place;
            self.faults.push(Fault::Tile {
                level,
                index,
                from,
                to,
            });
        }
    }

    fn broken(mut self, fault: Fault) -> Findings {
        self.due.clear();
        self.faults.push(fault);
        self.end()
    }

    fn end(mut self) -> Findings {
        // The longest of them says most.
        if let Some((size, left)) = self.due.pop_last()
            && let Some((which, _)) = left.into_iter().next()
        {
            self.faults.push(Fault::CutOff {
                end: self.edge.size(),
                size,
                which,
            });
        }
        let more = self.faults.len().saturating_sub(MOST);
        if more > 0 {
            self.faults.truncate(MOST);
            self.faults.push(Fault::More(more));
        }
        Findings {
            head: self.head,
            vouched: self.vouched,
            faults: self.faults,
        }
    }
}
