//! Proofs that stand alone: that a record is in the ledger, and that a ledger only grew.
//!
//! A proof of a record is a text of two parts: the record's entry on one line, and after an empty line a proof as C2SP
//! tlog-proof has it (<https://c2sp.org/tlog-proof>), which ends in the checkpoint that it leads to. The second part
//! is for other people's tools as well.

use std::fmt::Write as _;

use tlog_tiles::{Hash, record_hash};

use super::Record;
use super::checkpoint::{Checkpoint, NoCheckpoint, PublicKey};
use super::source::{Source, Unanswered, answer, newest};
use super::tree::{Question, check_consistency, check_inclusion};

/// What a C2SP proof begins with.
const HEADER: &str = "c2sp.org/tlog-proof@v1";
/// The most hashes that a proof can have: one for each level of the largest tree.
const MOST_HASHES: usize = 64;

/// Writes the proof that a record, by its place from 1, is in the ledger.
///
/// # Errors
/// [`Unanswered`] when there is no such record, no checkpoint covers it yet, or the ledger does not hold.
pub async fn prove(
    source: &mut dyn Source,
    key: &PublicKey,
    seq: i64,
) -> Result<String, Unanswered> {
    let index = seq
        .checked_sub(1)
        .and_then(|index| u64::try_from(index).ok());
    let index = index.ok_or_else(|| {
        Unanswered::NoRecord(format!(
            "there is no record {seq}; they are numbered from 1"
        ))
    })?;
    let record = source
        .records_after(seq.saturating_sub(1))
        .await?
        .into_iter()
        .next()
        .and_then(Result::ok)
        .filter(|record| record.seq == seq)
        .ok_or_else(|| {
            Unanswered::NoRecord(format!("there is no record {seq}, or it cannot be read"))
        })?;
    let checkpoint = newest(source, key).await?;
    let size = checkpoint.size();
    if index >= size {
        return Err(Unanswered::NoRecord(format!(
            "record {seq} came after the newest checkpoint, which is of {size} records; `actum ledger checkpoint --sign` has the running kernel sign one now"
        )));
    }
    let broken = |_| Unanswered::OtherTree { size };
    let entry = record.entry().map_err(|_| Unanswered::OtherTree { size })?;
    let proof = answer(source, Question::Inclusion { size, index }, size).await?;
    let leaf = record_hash(&entry);
    check_inclusion(&proof, (size, checkpoint.root()), (index, leaf)).map_err(broken)?;
    let entry = String::from_utf8(entry).map_err(|_| Unanswered::OtherTree { size })?;
    let mut text = format!("{entry}\n\n{HEADER}\nindex {index}\n");
    for hash in proof {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{hash}");
    }
    let _ = write!(text, "\n{}", checkpoint.text());
    Ok(text)
}

/// Why a text proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoProof {
    /// It does not have the form of one.
    #[error("it has not the form of a proof: {0}")]
    Malformed(&'static str),
    /// Its checkpoint is none of the key.
    #[error("its checkpoint: {0}")]
    NoCheckpoint(#[from] NoCheckpoint),
    /// Its first line is not a record as the ledger has them.
    #[error("its first line is no record")]
    NoRecord,
    /// The record names another place than the proof.
    #[error("its record names place {named}, and its proof is of place {proved}")]
    OtherPlace {
        /// What the record says, from 1.
        named: i64,
        /// What the proof says, from 1.
        proved: u64,
    },
    /// The hashes do not lead from the record to the root.
    #[error(
        "the record is not the one at place {place} of the {size} that the checkpoint was signed over"
    )]
    NotIncluded {
        /// The place, from 1.
        place: u64,
        /// The size of the tree.
        size: u64,
    },
}

/// A record that was proved, and the checkpoint that it was proved by.
#[derive(Debug, Clone)]
pub struct Proven {
    /// The record.
    pub record: Record,
    /// The checkpoint.
    pub checkpoint: Checkpoint,
}

/// Checks the text that [`prove`] wrote, by the public key alone.
///
/// # Errors
/// [`NoProof`] with what is wrong.
pub fn check(text: &str, key: &PublicKey) -> Result<Proven, NoProof> {
    let parts =
        "it consists of a record, a proof and a checkpoint, with an empty line between each";
    let (entry, rest) = text.split_once("\n\n").ok_or(NoProof::Malformed(parts))?;
    let (proof, note) = rest.split_once("\n\n").ok_or(NoProof::Malformed(parts))?;
    let mut lines = proof.lines();
    if lines.next() != Some(HEADER) {
        return Err(NoProof::Malformed(
            "the second part begins with c2sp.org/tlog-proof@v1",
        ));
    }
    let index: u64 = lines
        .next()
        .and_then(|line| line.strip_prefix("index "))
        .and_then(|number| number.parse().ok())
        .ok_or(NoProof::Malformed("`index` is missing or no number"))?;
    let hashes: Vec<Hash> = lines
        .take(MOST_HASHES + 1)
        .map(Hash::parse_hash)
        .collect::<Result<_, _>>()
        .map_err(|_| NoProof::Malformed("a line of the proof is no SHA-256 hash in base64"))?;
    if hashes.len() > MOST_HASHES {
        return Err(NoProof::Malformed("it has more hashes than any proof"));
    }
    let checkpoint = Checkpoint::open(note, key)?;
    let (place, size) = (index.saturating_add(1), checkpoint.size());
    let leaf = record_hash(entry.as_bytes());
    check_inclusion(&hashes, (size, checkpoint.root()), (index, leaf))
        .map_err(|_| NoProof::NotIncluded { place, size })?;
    let record = Record::from_entry(entry.as_bytes()).ok_or(NoProof::NoRecord)?;
    if u64::try_from(record.seq) != Ok(place) {
        return Err(NoProof::OtherPlace {
            named: record.seq,
            proved: place,
        });
    }
    Ok(Proven { record, checkpoint })
}

/// What a witness learns: the ledger's newest checkpoint, or why it is not one that it may keep.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The ledger cannot say.
    #[error(transparent)]
    Unanswered(#[from] Unanswered),
    /// The newest checkpoint is of fewer records than the one that was kept.
    #[error(
        "the ledger's end was cut off: its newest checkpoint is of {now} records, and the one that was kept is of {kept}"
    )]
    CutOff {
        /// The size now.
        now: u64,
        /// The size that was kept.
        kept: u64,
    },
    /// The ledger does not begin with what it was.
    #[error(
        "the ledger was rewritten: its newest checkpoint, of {now} records, does not begin with the {kept} of the one that was kept"
    )]
    Rewritten {
        /// The size now.
        now: u64,
        /// The size that was kept.
        kept: u64,
    },
}

/// The newest checkpoint of a ledger, once it is proved that it only grew since the one that was kept.
///
/// # Errors
/// [`Refused`] when it did not, or cannot prove that it did.
pub async fn grown(
    source: &mut dyn Source,
    key: &PublicKey,
    kept: Option<&Checkpoint>,
) -> Result<Checkpoint, Refused> {
    let newest = newest(source, key).await?;
    let Some(kept) = kept else {
        return Ok(newest);
    };
    let sizes = (newest.size(), kept.size());
    let (now, before) = sizes;
    if now < before {
        return Err(Refused::CutOff { now, kept: before });
    }
    let rewritten = Refused::Rewritten { now, kept: before };
    if now == before {
        return match newest.root() == kept.root() {
            true => Ok(newest),
            false => Err(rewritten),
        };
    }
    let proof = match before {
        0 => Vec::new(),
        from => answer(source, Question::Consistency { from, to: now }, now).await?,
    };
    check_consistency(&proof, (before, kept.root()), (now, newest.root()))
        .map_err(|_| rewritten)?;
    Ok(newest)
}
