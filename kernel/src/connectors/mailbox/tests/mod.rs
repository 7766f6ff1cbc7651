//! What the mailbox promises, from mails on disk to what a caller sees.

mod decoding;
mod hostile;
mod opening;
mod page;
mod properties;
mod sample;
mod threading;

use std::fs;
use std::ops::Deref;
use std::path::Path;

use tempfile::TempDir;

use super::{Limits, Mailbox, Message, Thread};

/// A Maildir in a folder of its own.
struct Dir(TempDir);

impl Dir {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["cur", "new", "tmp"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        Self(dir)
    }

    fn of<T: AsRef<[u8]>>(mails: impl IntoIterator<Item = T>) -> Self {
        let dir = Self::new();
        for (number, mail) in mails.into_iter().enumerate() {
            dir.put(&format!("cur/{number:05}.host"), mail);
        }
        dir
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn put(&self, name: &str, mail: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), mail).unwrap();
    }

    fn open(&self) -> Mailbox {
        Mailbox::open(self.path()).unwrap()
    }

    fn open_within(&self, limits: Limits) -> Mailbox {
        Mailbox::open_within(self.path(), limits).unwrap()
    }

    /// Opens it and keeps its files for as long as the result lives.
    fn into_mailbox(self) -> Kept {
        self.into_mailbox_within(Limits::default())
    }

    fn into_mailbox_within(self, limits: Limits) -> Kept {
        Kept {
            mailbox: self.open_within(limits),
            _files: self,
        }
    }
}

struct Kept {
    mailbox: Mailbox,
    _files: Dir,
}

impl Deref for Kept {
    type Target = Mailbox;

    fn deref(&self) -> &Mailbox {
        &self.mailbox
    }
}

/// What is shown of a mailbox that holds one mail.
fn only_message(mailbox: &Mailbox) -> Message {
    let thread = only_thread(mailbox);
    assert_eq!(thread.messages.len(), 1);
    thread.messages.into_iter().next().unwrap()
}

fn only_thread(mailbox: &Mailbox) -> Thread {
    let threads = mailbox.threads();
    assert_eq!(threads.len(), 1, "{threads:#?} {:#?}", mailbox.faults());
    mailbox.thread(&threads[0].id, usize::MAX).unwrap()
}

/// How one mail is shown.
fn shown(mail: impl AsRef<[u8]>) -> Message {
    only_message(&Dir::of([mail]).open())
}

/// The text shown for a mail of one part with these MIME headers.
fn text_of(mime_headers: &str, body: impl AsRef<[u8]>) -> String {
    let mut mail = format!("From: a@example.org\n{mime_headers}\n\n").into_bytes();
    mail.extend_from_slice(body.as_ref());
    shown(mail).text
}

/// The number and subject of every thread's mails, in the order of the list.
fn outline(mailbox: &Mailbox) -> Vec<(u32, String)> {
    mailbox
        .threads()
        .into_iter()
        .map(|it| (it.messages, it.subject))
        .collect()
}
