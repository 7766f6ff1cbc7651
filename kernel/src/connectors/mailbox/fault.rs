//! Why a mailbox cannot be opened, and why a mail of it is not shown.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::printable;

/// A mailbox could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum MailboxError {
    /// The path leads nowhere.
    #[error(
        "there is no mailbox at {path:?}: give the path of a Maildir (a folder with cur/ and new/) \
         or of one mbox file"
    )]
    Missing {
        /// The path as given.
        path: PathBuf,
    },
    /// The path leads to something else.
    #[error(
        "{path:?} is not a mailbox: it is {found}; give the path of a Maildir (a folder with cur/ \
         and new/) or of one mbox file"
    )]
    NotAMailbox {
        /// The path as given.
        path: PathBuf,
        /// What stands there.
        found: &'static str,
    },
    /// The operating system refused to read it.
    #[error(
        "cannot read the mailbox at {path:?}: {source}; let the account that runs the kernel read \
         it, or give another path"
    )]
    Unreadable {
        /// The file or folder that was refused.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl MailboxError {
    pub(super) fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            _ => Self::Unreadable { path, source },
        }
    }
}

/// Why a mail is not shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SkipReason {
    /// Longer than [`Limits::message_bytes`](super::Limits::message_bytes).
    #[error("it is longer than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// Older than the newest [`Limits::messages`](super::Limits::messages).
    #[error("there are {skipped} more than this mailbox may hold")]
    TooMany {
        /// How many were left out.
        skipped: usize,
    },
    /// A symbolic link out of the mailbox.
    #[error("it is a link to a place outside of the mailbox")]
    OutsideMailbox,
    /// A folder, pipe or device among the mails.
    #[error("it is not a regular file")]
    NotARegularFile,
    /// Not one header field of a mail.
    #[error("it does not begin with the header of a mail")]
    NoHeader,
    /// Another mail with this Message-ID and other content is shown.
    #[error("it has the Message-ID of another mail with other content, which is shown instead")]
    SameMessageId,
    /// The header made the parser fail.
    #[error("its header cannot be parsed")]
    Unparsable,
    /// The operating system refused to read it.
    #[error("it cannot be read: {error}")]
    Unreadable {
        /// What the operating system said.
        error: String,
    },
}

/// A mail that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Its file (`cur/1790000001.M1P1.host`) or its place in the mbox (`message 3, byte 5120`).
    pub mail: String,
    /// Why it was left out.
    pub reason: SkipReason,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.mail, self.reason)
    }
}

/// The mails that were left out: the first ones by name, the rest by number.
#[derive(Debug)]
pub struct Faults {
    listed: Vec<Fault>,
    unlisted: usize,
    room: usize,
}

impl Faults {
    pub(super) fn new(room: usize) -> Self {
        Self {
            listed: Vec::new(),
            unlisted: 0,
            room,
        }
    }

    pub(super) fn add(&mut self, mail: &str, reason: SkipReason) {
        if self.listed.len() < self.room {
            self.listed.push(Fault {
                // A file name can hold any byte; this list is printed.
                mail: printable::line(mail, 300),
                reason,
            });
        } else {
            self.unlisted += 1;
        }
    }

    /// The faults that are listed by name.
    #[must_use]
    pub fn listed(&self) -> &[Fault] {
        &self.listed
    }

    /// How many more there are.
    #[must_use]
    pub fn unlisted(&self) -> usize {
        self.unlisted
    }
}
