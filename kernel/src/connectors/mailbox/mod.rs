//! A mailbox, read and never written: the owner's threads as plain text.
//!
//! [`Mailbox::open`] indexes a Maildir or one mbox file from the mails' headers;
//! [`Mailbox::thread`] reads the bodies of one thread when they are asked for.
//! Everything is synchronous file access: call it from a thread that may block.
//!
//! What a mail says comes from strangers. It leaves this module as bounded text without control
//! characters, invisible characters or attachments, and it is content, never an instruction.
//!
//! | file | idea |
//! |---|---|
//! | `source` | which kind of mailbox a path is; `maildir` and `mbox` read the two kinds |
//! | `envelope` | a mail's header |
//! | `body` | a mail's body as one text, with `html` for mails that have no plain text |
//! | `thread` | which mails belong together |
//! | `shown` | what a caller gets to see |
//! | `fault` | why a mailbox or a mail could not be read |

mod body;
mod envelope;
mod fault;
mod html;
mod maildir;
mod mbox;
mod shown;
mod source;
mod thread;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;

use sha2::{Digest, Sha256};

use body::Body;
use envelope::Envelope;
use source::{Place, Source};

pub use fault::{Fault, Faults, MailboxError, SkipReason};
pub use shown::{Message, Thread, ThreadSummary};
pub use thread::{MalformedThreadId, ThreadId};

/// What stands for the text of a mail that is not where it was when the mailbox was opened.
const UNREADABLE_AGAIN: &str =
    "[This message was moved, changed or deleted after the mailbox was opened.]";

/// How much of a mailbox is read. The defaults suit a personal mailbox.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Mails indexed; of a larger mailbox, the newest ones by file name or place. 50,000.
    pub messages: usize,
    /// Bytes of one mail as stored; a larger one is skipped and reported. 10 MiB.
    pub message_bytes: usize,
    /// Bytes of text shown of one mail; a longer text ends with a note that it was cut. 64 KiB.
    pub text_bytes: usize,
    /// Ids followed of one mail's `References`: the first and the last ones. 32.
    pub references: usize,
    /// People read of one address header. 100.
    pub people: usize,
    /// Skipped mails listed by name; further ones are counted. 1,000.
    pub faults: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            messages: 50_000,
            message_bytes: 10 << 20,
            text_bytes: 64 << 10,
            references: 32,
            people: 100,
            faults: 1_000,
        }
    }
}

/// One indexed mail.
#[derive(Debug)]
struct Mail {
    envelope: Envelope,
    place: Place,
    /// INVARIANT: a body is shown only if the bytes read for it have this SHA-256. Otherwise a
    /// mailbox that changed on disk could put another mail into a thread that the owner selected.
    digest: [u8; 32],
}

/// One thread: its id and its mails, oldest first, as positions in [`Mailbox::mails`].
#[derive(Debug)]
struct Conversation {
    id: ThreadId,
    members: Vec<usize>,
}

/// A read-only snapshot of one mailbox: the index is as it was at [`Mailbox::open`].
#[derive(Debug)]
pub struct Mailbox {
    source: Source,
    limits: Limits,
    mails: Vec<Mail>,
    conversations: Vec<Conversation>,
    faults: Faults,
}

impl Mailbox {
    /// Opens a Maildir (a folder with `cur/` or `new/`) or one mbox file, with default limits.
    ///
    /// # Errors
    ///
    /// If the path leads nowhere, to no mailbox, or to something that cannot be read. A mail that
    /// cannot be read is no error: it is left out and listed in [`Mailbox::faults`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, MailboxError> {
        Self::open_within(path, Limits::default())
    }

    /// Like [`Mailbox::open`], with limits of the caller's choice.
    ///
    /// # Errors
    ///
    /// As for [`Mailbox::open`].
    pub fn open_within(path: impl AsRef<Path>, limits: Limits) -> Result<Self, MailboxError> {
        let source = Source::find(path.as_ref())?;
        let mut faults = Faults::new(limits.faults);
        let mut mails = VecDeque::new();
        let mut surplus = 0;
        let unread = source.scan(&limits, &mut |entry| {
            let read = entry.raw.and_then(|raw| {
                let digest = digest(raw);
                Envelope::read(raw, &digest, &limits).map(|envelope| (envelope, digest))
            });
            match read {
                Ok((envelope, digest)) => mails.push_back(Mail {
                    envelope,
                    place: entry.place,
                    digest,
                }),
                Err(reason) => faults.add(&entry.name, reason),
            }
            if mails.len() > limits.messages {
                mails.pop_front();
                surplus += 1;
            }
        })?;
        let skipped = surplus + unread;
        if skipped > 0 {
            faults.add("older messages", SkipReason::TooMany { skipped });
        }
        let mails = without_duplicates(mails, &mut faults);
        let conversations = conversations(&mails);
        Ok(Self {
            source,
            limits,
            mails,
            conversations,
            faults,
        })
    }

    /// All threads, those with the newest mail first.
    #[must_use]
    pub fn threads(&self) -> Vec<ThreadSummary> {
        self.conversations
            .iter()
            .map(|it| ThreadSummary::new(it.id.clone(), self.envelopes(it)))
            .collect()
    }

    /// The newest `max_messages` mails of one thread, oldest first, or nothing if this mailbox has
    /// no such thread.
    #[must_use]
    pub fn thread(&self, id: &ThreadId, max_messages: usize) -> Option<Thread> {
        let found = self.conversations.iter().find(|it| it.id == *id)?;
        let omitted = found.members.len().saturating_sub(max_messages);
        Some(Thread {
            id: found.id.clone(),
            subject: self
                .envelopes(found)
                .next()
                .map(|first| first.subject.clone())
                .unwrap_or_default(),
            omitted: shown::count(omitted),
            messages: found
                .members
                .iter()
                .skip(omitted)
                .filter_map(|&member| self.mails.get(member))
                .map(|mail| Message::new(&mail.envelope, self.body(mail)))
                .collect(),
        })
    }

    /// The mails that were left out, and why.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    fn envelopes<'a>(&'a self, of: &'a Conversation) -> impl Iterator<Item = &'a Envelope> {
        of.members
            .iter()
            .filter_map(|&member| self.mails.get(member))
            .map(|mail| &mail.envelope)
    }

    fn body(&self, mail: &Mail) -> Body {
        self.source
            .read(&mail.place, &self.limits, &|raw| digest(raw) == mail.digest)
            .map_or_else(
                || Body::note(UNREADABLE_AGAIN),
                |raw| Body::read(&raw, &self.limits),
            )
    }
}

fn digest(raw: &[u8]) -> [u8; 32] {
    Sha256::digest(raw).into()
}

/// One mail per Message-ID. Of several that differ, the earliest is kept whatever the order of
/// the files, and the others are reported.
fn without_duplicates(mails: VecDeque<Mail>, faults: &mut Faults) -> Vec<Mail> {
    let mut mails = Vec::from(mails);
    mails.sort_by(|a, b| {
        let key = |mail: &Mail| {
            (
                mail.envelope.date.is_none(),
                mail.envelope.date,
                mail.digest,
            )
        };
        key(a).cmp(&key(b))
    });
    let mut kept: HashMap<String, [u8; 32]> = HashMap::new();
    mails.retain(|mail| match kept.get(&mail.envelope.id) {
        None => {
            kept.insert(mail.envelope.id.clone(), mail.digest);
            true
        }
        Some(digest) => {
            if *digest != mail.digest {
                faults.add(&mail.place.to_string(), SkipReason::SameMessageId);
            }
            false
        }
    });
    mails
}

/// The mails sorted into threads, the one with the newest mail first.
fn conversations(mails: &[Mail]) -> Vec<Conversation> {
    let envelopes: Vec<&Envelope> = mails.iter().map(|mail| &mail.envelope).collect();
    let mut taken = HashSet::new();
    let mut found: Vec<_> = thread::group(&envelopes)
        .into_iter()
        .map(|(root, members)| {
            let newest = members
                .iter()
                .filter_map(|&member| envelopes.get(member)?.date)
                .max();
            (newest, ThreadId::of_root(root), members)
        })
        .collect();
    found.sort_by(|a, b| (Reverse(a.0), &a.1).cmp(&(Reverse(b.0), &b.1)));
    found
        .into_iter()
        // Two roots whose digests begin alike can only be made on purpose. One id, one thread.
        .filter(|(_, id, _)| taken.insert(id.clone()))
        .map(|(_, id, members)| Conversation { id, members })
        .collect()
}
