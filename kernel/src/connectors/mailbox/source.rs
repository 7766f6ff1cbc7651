//! Where mails are stored: which kind of mailbox a path is, and its mails as bytes.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::Path;

use super::Limits;
use super::fault::{MailboxError, SkipReason};
use super::maildir::{Folder, Maildir};
use super::mbox::Mbox;

/// The two kinds of mailbox.
#[derive(Debug)]
pub(super) enum Source {
    Maildir(Maildir),
    Mbox(Mbox),
}

/// Where one mail stands, to read it again.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// A file of a Maildir.
    File { folder: Folder, name: OsString },
    /// A stretch of an mbox, after its `From ` line.
    Stretch { number: usize, start: u64, len: u64 },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { folder, name } => write!(f, "{}/{}", folder.name(), name.display()),
            Self::Stretch { number, start, .. } => write!(f, "message {number}, byte {start}"),
        }
    }
}

/// What a scan meets: the bytes of a mail, or why there are none.
pub(super) struct Entry<'a> {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) raw: Result<&'a [u8], SkipReason>,
}

impl<'a> Entry<'a> {
    pub(super) fn new(place: Place, raw: Result<&'a [u8], SkipReason>) -> Self {
        Self {
            name: place.to_string(),
            place,
            raw,
        }
    }
}

impl Source {
    /// Tells a Maildir from an mbox file from anything else.
    pub(super) fn find(path: &Path) -> Result<Self, MailboxError> {
        let kind = fs::metadata(path)
            .map_err(MailboxError::unreadable(path))?
            .file_type();
        if kind.is_dir() {
            Maildir::open(path).map(Self::Maildir)
        } else if kind.is_file() {
            Mbox::open(path).map(Self::Mbox)
        } else {
            Err(MailboxError::NotAMailbox {
                path: path.to_owned(),
                found: "neither a folder nor a regular file",
            })
        }
    }

    /// Hands mails to `each`, the oldest first by file name or place, and tells how many of the
    /// oldest it left out because there are too many.
    pub(super) fn scan(
        &self,
        limits: &Limits,
        each: &mut dyn FnMut(Entry<'_>),
    ) -> Result<usize, MailboxError> {
        match self {
            Self::Maildir(maildir) => maildir.scan(limits, each),
            Self::Mbox(mbox) => mbox.scan(limits, each).map(|()| 0),
        }
    }

    /// The bytes of one mail, if they are still to be found and `wanted` accepts them.
    pub(super) fn read(
        &self,
        place: &Place,
        limits: &Limits,
        wanted: &dyn Fn(&[u8]) -> bool,
    ) -> Option<Vec<u8>> {
        match (self, place) {
            (Self::Maildir(maildir), Place::File { folder, name }) => {
                maildir.read(*folder, name, limits, wanted)
            }
            (Self::Mbox(mbox), Place::Stretch { start, len, .. }) => {
                mbox.read(*start, *len).filter(|raw| wanted(raw))
            }
            _ => None,
        }
    }
}
