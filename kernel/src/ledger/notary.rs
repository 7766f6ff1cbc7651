//! Who signs the ledger's checkpoints.
//!
//! The key is one file, `ledger.key`, as text that Go's `sumdb/note` reads as well
//! (<https://pkg.go.dev/golang.org/x/mod/sumdb/note#hdr-Generating_Keys>), with the public part beside it in
//! `ledger.pub`. The log's origin is the key's name: whoever changes one of them begins another log, and nobody who
//! kept the public key would believe it.

use std::fmt;
use std::path::Path;

use data_encoding::BASE64;
use ed25519_dalek::SigningKey;
use signed_note::{Note, Signer as _, StandardSigner, is_key_name_valid, new_ed25519_verifier_key};
use tlog_tiles::Hash;
use ulid::Ulid;

use super::checkpoint::{Checkpoint, PublicKey};
use crate::folder;
use crate::store::StoreError;

/// What every signer key begins with.
const PRIVATE: &str = "PRIVATE+KEY+";
/// The signature type of a plain Ed25519 key (<https://c2sp.org/signed-note#signature-types>).
const ED25519: u8 = 1;
/// The longest origin, in bytes.
const MAX_ORIGIN: usize = 200;

/// Signs checkpoints.
pub struct Notary {
    signer: StandardSigner,
    key: PublicKey,
    every: u64,
}

impl fmt::Debug for Notary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Notary({})", self.key)
    }
}

/// Whether a text can name a log: the name of its key, and a line of its checkpoints.
#[must_use]
pub fn is_origin(text: &str) -> bool {
    is_key_name_valid(text) && text.len() <= MAX_ORIGIN && !text.chars().any(char::is_control)
}

impl Notary {
    /// Reads the key in a folder, making it and its public part where they are missing. A new one is of the log
    /// `origin`, or of one with a random name. It signs a checkpoint at the latest `every` records.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] with the file that cannot be read, written or understood, or that is the key of
    /// another origin.
    pub fn open(folder: &Path, origin: Option<&str>, every: u64) -> Result<Self, StoreError> {
        let path = folder.join("ledger.key");
        let told = |problem: String| unusable(&path, problem);
        let text = match path.exists() {
            true => std::fs::read_to_string(&path)
                .map_err(|error| told(format!("cannot be read: {error}; check its permissions")))?,
            false => {
                let text = new_key(origin).map_err(&told)?;
                write(&path, &text)?;
                text
            }
        };
        let (signer, key) = read(text.trim()).ok_or_else(|| {
            told("is no signer key of Ed25519; restore it from a backup".to_owned())
        })?;
        if let Some(origin) = origin.filter(|origin| *origin != signer.name()) {
            return Err(told(format!(
                "is the key of the log `{}`, and `ledger.origin` is `{origin}`; the origin of a log that has begun stays, so write that one",
                signer.name()
            )));
        }
        let public = folder.join("ledger.pub");
        if !public.exists() {
            write(&public, &key.to_string())?;
        }
        if PublicKey::parse(&read_text(&public)?)
            .is_none_or(|found| found.to_string() != key.to_string())
        {
            return Err(unusable(
                &public,
                "is not the public part of ledger.key beside it; remove it to have it written anew"
                    .to_owned(),
            ));
        }
        Ok(Self { signer, key, every })
    }

    /// The key that its checkpoints are verified with.
    #[must_use]
    pub const fn key(&self) -> &PublicKey {
        &self.key
    }

    /// After how many records it signs at the latest.
    #[must_use]
    pub const fn every(&self) -> u64 {
        self.every
    }

    /// Signs what the tree is at a size.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] when the key cannot sign.
    pub fn sign(&self, size: u64, root: Hash) -> Result<Checkpoint, StoreError> {
        let broken = |error: &dyn fmt::Display| {
            StoreError::Unreadable(format!("no checkpoint can be signed: {error}"))
        };
        let told = tlog_tiles::Checkpoint::new(self.signer.name(), size, root, "")
            .map_err(|error| broken(&error))?;
        let text = self.signed(&told.to_bytes())?;
        Checkpoint::open(&text, &self.key).map_err(|error| broken(&error))
    }
}

impl Notary {
    /// A signed note of this text, whose last line ends.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] when the key cannot sign it.
    pub fn signed(&self, text: &[u8]) -> Result<String, StoreError> {
        let broken = |error: &dyn fmt::Display| {
            StoreError::Unreadable(format!("nothing can be signed: {error}"))
        };
        let mut note = Note::new(text, &[]).map_err(|error| broken(&error))?;
        note.add_sigs(&[&self.signer])
            .map_err(|error| broken(&error))?;
        String::from_utf8(note.to_bytes()).map_err(|error| broken(&error))
    }
}

/// Reads the public key in a file.
///
/// # Errors
/// [`StoreError::Unusable`] with the file that cannot be read or understood.
pub fn read_public_key(path: &Path) -> Result<PublicKey, StoreError> {
    PublicKey::parse(&read_text(path)?).ok_or_else(|| {
        unusable(
            path,
            "is no verifier key (NAME+ID+KEY); name the ledger.pub that was kept".to_owned(),
        )
    })
}

/// A new signer key.
fn new_key(origin: Option<&str>) -> Result<String, String> {
    let mut seed = [0u8; 32];
    getrandom::fill(&mut seed)
        .map_err(|error| format!("no random numbers for a new key: {error}"))?;
    let origin = origin.map_or_else(|| format!("actum/{}", Ulid::generate()), str::to_owned);
    let public = new_ed25519_verifier_key(&origin, &SigningKey::from_bytes(&seed).verifying_key());
    // The same name and id, and the private half behind them.
    let id = public.split('+').nth(1).unwrap_or_default();
    let key = BASE64.encode(&[&[ED25519], seed.as_slice()].concat());
    Ok(format!("{PRIVATE}{origin}+{id}+{key}"))
}

/// A signer and the public part of its key.
fn read(text: &str) -> Option<(StandardSigner, PublicKey)> {
    let signer = StandardSigner::new(text).ok()?;
    let key = text.strip_prefix(PRIVATE)?.splitn(3, '+').nth(2)?;
    let key = BASE64.decode(key.as_bytes()).ok()?;
    let seed: &[u8; 32] = key.strip_prefix(&[ED25519])?.try_into().ok()?;
    let public = SigningKey::from_bytes(seed).verifying_key();
    let public = PublicKey::parse(&new_ed25519_verifier_key(signer.name(), &public))?;
    Some((signer, public))
}

fn read_text(path: &Path) -> Result<String, StoreError> {
    std::fs::read_to_string(path).map_err(|error| {
        unusable(
            path,
            format!("cannot be read: {error}; name the ledger.pub that was kept"),
        )
    })
}

fn write(path: &Path, text: &str) -> Result<(), StoreError> {
    folder::write_private(path, &format!("{text}\n")).map_err(|error| {
        unusable(
            path,
            format!("cannot be written: {error}; check the folder's permissions"),
        )
    })
}

fn unusable(path: &Path, problem: String) -> StoreError {
    StoreError::Unusable {
        path: path.display().to_string(),
        problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::checkpoint::{NoCheckpoint, notes};

    #[test]
    fn a_key_is_made_once_and_signs_what_its_public_part_verifies() {
        let folder = tempfile::tempdir().unwrap();
        let first = Notary::open(folder.path(), None, 9).unwrap();
        let again = Notary::open(folder.path(), None, 9).unwrap();
        assert_eq!(first.key().to_string(), again.key().to_string());
        assert!(first.key().origin().starts_with("actum/"));
        let public = read_public_key(&folder.path().join("ledger.pub")).unwrap();
        let root = tlog_tiles::record_hash(b"one");
        let signed = again.sign(1, root).unwrap();
        let opened = Checkpoint::open(signed.text(), &public).unwrap();
        assert_eq!((opened.size(), opened.root()), (1, root));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let made = std::fs::metadata(folder.path().join("ledger.key")).unwrap();
            assert_eq!(made.permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_text_that_the_key_did_not_sign_is_told_from_one_that_it_did() {
        let (mine, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mine = Notary::open(mine.path(), Some("example.org/ledger"), 9).unwrap();
        let other = Notary::open(other.path(), Some("example.org/ledger"), 9).unwrap();
        let signed = mine.sign(12, tlog_tiles::record_hash(b"one")).unwrap();
        let open = |text: &str| Checkpoint::open(text, mine.key()).unwrap_err();
        assert_eq!(
            open(&signed.text().replace("\n12\n", "\n13\n")),
            NoCheckpoint::Forged
        );
        assert!(matches!(
            Checkpoint::open(signed.text(), other.key()),
            Err(NoCheckpoint::OtherKey(_))
        ));
        for bad in ["", "12\n", "— a b\n", &signed.text().replace("\n\n", "\n")] {
            assert_eq!(open(bad), NoCheckpoint::Malformed, "{bad:?}");
        }
        let several = format!("\n{0}\n\n{0}{0}", signed.text());
        assert_eq!(notes(&several), vec![signed.text().to_owned(); 3]);
    }

    #[test]
    fn a_note_of_the_key_about_another_log_is_no_checkpoint_of_this_one() {
        let folder = tempfile::tempdir().unwrap();
        let notary = Notary::open(folder.path(), Some("example.org/one"), 9).unwrap();
        let signed = |text: &str| {
            let mut note = Note::new(text.as_bytes(), &[]).unwrap();
            note.add_sigs(&[&notary.signer]).unwrap();
            let note = String::from_utf8(note.to_bytes()).unwrap();
            Checkpoint::open(&note, notary.key())
        };
        let root = tlog_tiles::EMPTY_HASH;
        assert!(signed(&format!("example.org/one\n0\n{root}\n")).is_ok());
        assert!(matches!(
            signed(&format!("example.org/two\n0\n{root}\n")),
            Err(NoCheckpoint::OtherOrigin { .. })
        ));
        assert_eq!(
            signed("example.org/one\nmany\n"),
            Err(NoCheckpoint::Malformed)
        );
    }

    #[test]
    fn the_origin_of_a_key_that_is_there_stays_and_a_damaged_key_is_told() {
        let folder = tempfile::tempdir().unwrap();
        Notary::open(folder.path(), Some("example.org/one"), 9).unwrap();
        let told = |origin| {
            Notary::open(folder.path(), origin, 9)
                .unwrap_err()
                .to_string()
        };
        let other = told(Some("example.org/two"));
        assert!(
            other.contains("is the key of the log `example.org/one`"),
            "{other}"
        );
        std::fs::write(folder.path().join("ledger.pub"), "example.org/one+0+0").unwrap();
        assert!(told(None).contains("ledger.pub: is not the public part"));
        std::fs::write(folder.path().join("ledger.key"), "nonsense").unwrap();
        assert!(told(None).contains("ledger.key: is no signer key"));
    }
}
