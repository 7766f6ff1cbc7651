//! Checkpoints: what the ledger's key says of the tree at one size.
//!
//! A checkpoint is a signed note (<https://c2sp.org/signed-note>) of three lines (<https://c2sp.org/tlog-checkpoint>):
//! the origin, the number of records and the tree's root. Keys are written as the notes' own format has it: the
//! public one as `NAME+ID+KEY`, where the name is the origin.

use std::collections::BTreeMap;
use std::fmt;

use signed_note::{Note, NoteError, StandardVerifier, Verifier as _, VerifierList};
use tlog_tiles::Hash;

/// What a signature line begins with.
const SIGNATURE: &str = "— ";

/// The key that checkpoints are verified with.
#[derive(Clone)]
pub struct PublicKey {
    text: String,
    verifier: StandardVerifier,
}

impl PublicKey {
    /// Reads a verifier key, `NAME+ID+KEY`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let verifier = StandardVerifier::new(text).ok()?;
        Some(Self {
            text: text.to_owned(),
            verifier,
        })
    }

    /// The text of a signed note, if one of its signatures is this key's.
    ///
    /// # Errors
    /// [`NoCheckpoint`] when it is no signed note of this key.
    pub fn signed_text(&self, note: &str) -> Result<String, NoCheckpoint> {
        let note = Note::from_bytes(note.as_bytes()).map_err(|_| NoCheckpoint::Malformed)?;
        let known = VerifierList::new(vec![Box::new(self.verifier.clone())]);
        note.verify(&known).map_err(|error| match error {
            NoteError::UnverifiedNote => NoCheckpoint::OtherKey(self.to_string()),
            _ => NoCheckpoint::Forged,
        })?;
        let text = String::from_utf8(note.text().to_vec());
        text.map_err(|_| NoCheckpoint::Malformed)
    }

    /// The origin of the checkpoints that it verifies.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.verifier.name()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.text)
    }
}

/// A checkpoint whose signature was verified. INVARIANT: it is made by [`Checkpoint::open`] alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    size: u64,
    root: Hash,
    text: String,
}

/// Why a text is no checkpoint of a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoCheckpoint {
    /// It is no signed note, or its text is not that of a checkpoint.
    #[error("it is no checkpoint")]
    Malformed,
    /// No signature on it is the key's.
    #[error("it is signed by another key than {0}")]
    OtherKey(String),
    /// The key's signature on it is not over this text.
    #[error("its signature does not fit its text")]
    Forged,
    /// It is about another log.
    #[error("it is of the log `{found}`, and this one is `{expected}`")]
    OtherOrigin {
        /// What it names.
        found: String,
        /// What the key is named.
        expected: String,
    },
}

impl Checkpoint {
    /// Reads a signed note and verifies it.
    ///
    /// # Errors
    /// [`NoCheckpoint`] when it is not one of this key.
    pub fn open(text: &str, key: &PublicKey) -> Result<Self, NoCheckpoint> {
        let note = Note::from_bytes(text.as_bytes()).map_err(|_| NoCheckpoint::Malformed)?;
        let known = VerifierList::new(vec![Box::new(key.verifier.clone())]);
        note.verify(&known).map_err(|error| match error {
            NoteError::UnverifiedNote => NoCheckpoint::OtherKey(key.to_string()),
            _ => NoCheckpoint::Forged,
        })?;
        let told =
            tlog_tiles::Checkpoint::from_bytes(note.text()).map_err(|_| NoCheckpoint::Malformed)?;
        if told.origin() != key.origin() {
            return Err(NoCheckpoint::OtherOrigin {
                found: told.origin().to_owned(),
                expected: key.origin().to_owned(),
            });
        }
        Ok(Self {
            size: told.size(),
            root: *told.hash(),
            text: text.to_owned(),
        })
    }

    /// How many records it is about.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The root of their tree.
    #[must_use]
    pub const fn root(&self) -> Hash {
        self.root
    }

    /// The signed note.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The signed notes that stand in a text one after the other, empty lines between them or not.
#[must_use]
pub fn notes(text: &str) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = String::new();
    let mut is_signed = false;
    for line in text.lines() {
        let is_signature = line.starts_with(SIGNATURE);
        if is_signed && !is_signature {
            notes.push(std::mem::take(&mut note));
            is_signed = false;
        }
        if note.is_empty() && line.is_empty() {
            continue;
        }
        note.push_str(line);
        note.push('\n');
        is_signed |= is_signature;
    }
    if !note.is_empty() {
        notes.push(note);
    }
    notes
}

/// Checkpoints by the size that they are about, each with the words for where it comes from. Two of one size that
/// differ are both kept.
pub type BySize = BTreeMap<u64, Vec<(String, Checkpoint)>>;
