//! The ledger: what was decided and done, as a chain of records and a log that anyone can verify.
//!
//! Each record holds the digest of the one before, so that a record that was changed, removed from
//! the middle or put in breaks the chain at that place. Records name payloads by digest and never
//! hold them.
//!
//! The records are also the leaves of a Merkle [`tree`], whose root the ledger's [`notary`] signs from time to time.
//! Such a [`checkpoint`], kept by somebody else, tells of a ledger that was cut off or written anew. [`audit`] checks
//! everything, [`proof`] proves one record or that the ledger only grew, and [`export`] writes it all as files.

pub mod audit;
pub mod checkpoint;
pub mod export;
pub mod notary;
pub mod proof;
pub mod source;
pub mod tree;

use actum::Digest;
use actum::digest::{NotCanonical, canonical_json};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The longest entry of a record, in bytes: what a bundle of C2SP tlog-tiles has room for.
pub const MAX_ENTRY: usize = u16::MAX as usize;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A kernel opened the store.
    KernelStarted,
    /// A kernel closed it in good order.
    KernelStopped,
    /// Other manifests came into force.
    ManifestsLoaded,
    /// A version of a manifest that was approved came into force.
    ArtifactActivated,
    /// One was taken back.
    ArtifactRevoked,
    /// One shall be taken over into the operator's files.
    ArtifactNominated,
    /// What an upstream offers of the tools that the operator takes from it, where that is not what it was.
    UpstreamSeen,
    /// An event led to no grant.
    EventRefused,
    /// An event led to a grant.
    GrantIssued,
    /// A grant was taken back.
    GrantRevoked,
    /// A worker reported how its task ended.
    TaskEnded,
    /// A call was refused.
    CallRefused,
    /// A call waits for the owner.
    CallPending,
    /// One of several approvers approved it, and more have to.
    CallEndorsed,
    /// It was approved.
    CallApproved,
    /// It was rejected, or an edited one took its place.
    CallRejected,
    /// Nobody decided in time.
    CallExpired,
    /// Its worker took it back before anybody decided.
    CallCancelled,
    /// A call was allowed, and its handler is about to run.
    CallStarted,
    /// It was cut off, and its handler is about to run again.
    CallResumed,
    /// Its handler returned a result.
    CallSucceeded,
    /// Its handler returned an error.
    CallFailed,
    /// Nobody knows whether its handler did what it was asked.
    CallOutcomeUnknown,
    /// A call was asked for again under its idempotency key, and nothing ran.
    CallReplayed,
    /// A person found out that its handler did what it was asked.
    CallSettledSucceeded,
    /// A person found out that its handler did not.
    CallSettledFailed,
}

impl Kind {
    /// The kind as it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::KernelStarted => "kernel_started",
            Self::KernelStopped => "kernel_stopped",
            Self::ManifestsLoaded => "manifests_loaded",
            Self::ArtifactActivated => "artifact_activated",
            Self::ArtifactRevoked => "artifact_revoked",
            Self::ArtifactNominated => "artifact_nominated",
            Self::UpstreamSeen => "upstream_seen",
            Self::EventRefused => "event_refused",
            Self::GrantIssued => "grant_issued",
            Self::GrantRevoked => "grant_revoked",
            Self::TaskEnded => "task_ended",
            Self::CallRefused => "call_refused",
            Self::CallPending => "call_pending",
            Self::CallEndorsed => "call_endorsed",
            Self::CallApproved => "call_approved",
            Self::CallRejected => "call_rejected",
            Self::CallExpired => "call_expired",
            Self::CallCancelled => "call_cancelled",
            Self::CallStarted => "call_started",
            Self::CallResumed => "call_resumed",
            Self::CallSucceeded => "call_succeeded",
            Self::CallFailed => "call_failed",
            Self::CallOutcomeUnknown => "call_outcome_unknown",
            Self::CallReplayed => "call_replayed",
            Self::CallSettledSucceeded => "call_settled_succeeded",
            Self::CallSettledFailed => "call_settled_failed",
        }
    }
}

/// Something to record.
#[derive(Debug, Clone)]
pub struct Entry {
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub kind: Kind,
    /// To what, by ids and digests.
    pub body: Value,
}

/// A record of the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Record {
    /// Its place, from 1, without gaps.
    pub seq: i64,
    /// When it happened, RFC 3339 UTC.
    pub at: String,
    /// What happened.
    pub kind: String,
    /// To what.
    pub body: Value,
    /// The digest of the record before; for the first, the digest of nothing.
    pub prev: Digest,
    /// The digest of this one.
    pub digest: Digest,
}

impl Record {
    /// Its entry: canonical JSON of all of it but its own digest, which is the digest of this. A leaf of the tree is
    /// the hash of an entry.
    ///
    /// # Errors
    /// [`NotCanonical`] for a body that JSON cannot hold.
    pub fn entry(&self) -> Result<Vec<u8>, NotCanonical> {
        entry_of(self.seq, &self.at, &self.kind, &self.body, self.prev)
    }

    /// Reads an entry. [`verify_next`] tells whether it is in its canonical form.
    #[must_use]
    pub fn from_entry(entry: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Fields {
            seq: i64,
            at: String,
            kind: String,
            body: Value,
            prev: String,
        }
        let fields: Fields = serde_json::from_slice(entry).ok()?;
        Some(Self {
            seq: fields.seq,
            at: fields.at,
            kind: fields.kind,
            body: fields.body,
            prev: Digest::parse(&fields.prev)?,
            digest: Digest::of_bytes(entry),
        })
    }
}

/// The end of a chain: what the next record ties on to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The last record's place; 0 before the first.
    pub seq: i64,
    /// Its digest.
    pub digest: Digest,
}

impl Head {
    /// The head of an empty chain.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            seq: 0,
            digest: Digest::of_bytes(b""),
        }
    }

    /// The record that ties `entry` on to this head.
    ///
    /// # Errors
    /// [`NotCanonical`] for a body that JSON cannot hold.
    pub fn next(&self, entry: Entry) -> Result<Record, NotCanonical> {
        let seq = self.seq.saturating_add(1);
        let (at, kind) = (entry.at.to_string(), entry.kind.as_str().to_owned());
        let digest = Digest::of_bytes(&entry_of(seq, &at, &kind, &entry.body, self.digest)?);
        Ok(Record {
            seq,
            at,
            kind,
            body: entry.body,
            prev: self.digest,
            digest,
        })
    }
}

impl Default for Head {
    fn default() -> Self {
        Self::empty()
    }
}

impl From<&Record> for Head {
    fn from(record: &Record) -> Self {
        Self {
            seq: record.seq,
            digest: record.digest,
        }
    }
}

fn entry_of(
    seq: i64,
    at: &str,
    kind: &str,
    body: &Value,
    prev: Digest,
) -> Result<Vec<u8>, NotCanonical> {
    canonical_json(&json!({"seq": seq, "at": at, "kind": kind, "body": body, "prev": prev}))
}

/// Where a chain does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A record is missing, or stands twice.
    #[error("record {expected} is missing; the next one found is {found}")]
    Gap {
        /// The place that should come next.
        expected: i64,
        /// The place that comes.
        found: i64,
    },
    /// A record does not follow the one before it.
    #[error("record {0} does not follow the record before it")]
    Unlinked(i64),
    /// A record was changed.
    #[error("record {0} was changed after it was written")]
    Changed(i64),
}

/// Checks that `record` follows `head`.
///
/// # Errors
/// [`Broken`], with the place.
pub fn verify_next(head: &Head, record: &Record) -> Result<Head, Broken> {
    let expected = head.seq.saturating_add(1);
    if record.seq != expected {
        return Err(Broken::Gap {
            expected,
            found: record.seq,
        });
    }
    if record.prev != head.digest {
        return Err(Broken::Unlinked(record.seq));
    }
    let digest = record.entry().map(|entry| Digest::of_bytes(&entry));
    if digest.ok() != Some(record.digest) {
        return Err(Broken::Changed(record.seq));
    }
    Ok(record.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(length: usize) -> Vec<Record> {
        let mut head = Head::empty();
        (0..length)
            .map(|index| {
                let entry = Entry {
                    at: Timestamp::UNIX_EPOCH,
                    kind: Kind::CallStarted,
                    body: json!({"call": index}),
                };
                let record = head.next(entry).unwrap();
                head = (&record).into();
                record
            })
            .collect()
    }

    fn verify(records: &[Record]) -> Result<Head, Broken> {
        records
            .iter()
            .try_fold(Head::empty(), |head, record| verify_next(&head, record))
    }

    #[test]
    fn a_chain_verifies_and_every_kind_of_tampering_is_found_where_it_was_done() {
        let good = chain(5);
        assert_eq!(verify(&good).unwrap().seq, 5);

        let mut removed = good.clone();
        removed.remove(2);
        assert_eq!(
            verify(&removed),
            Err(Broken::Gap {
                expected: 3,
                found: 4
            })
        );

        for change in [
            (|r: &mut Record| r.body = json!({"call": 9})) as fn(&mut Record),
            |r| r.at = "2026-01-01T00:00:00Z".into(),
            |r| r.kind = "call_refused".into(),
        ] {
            let mut changed = good.clone();
            change(&mut changed[2]);
            assert_eq!(verify(&changed), Err(Broken::Changed(3)));
        }

        let mut forged = good.clone();
        let other = Head {
            seq: 2,
            digest: Digest::of_bytes(b"x"),
        };
        forged[2] = other
            .next(Entry {
                at: Timestamp::UNIX_EPOCH,
                kind: Kind::CallFailed,
                body: json!({}),
            })
            .unwrap();
        assert_eq!(verify(&forged), Err(Broken::Unlinked(3)));

        let mut swapped = good;
        swapped.swap(1, 2);
        assert!(verify(&swapped).is_err());
    }
}
