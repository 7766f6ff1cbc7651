//! What a caller gets to see of a mailbox: threads, and the mails of one thread.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::body::Body;
use super::envelope::{Envelope, Person};
use super::thread::ThreadId;

/// People named in a summary.
const PARTICIPANTS: usize = 50;

/// One line of the list of threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ThreadSummary {
    /// The thread's id: the same after a restart and when new mails arrive.
    pub id: ThreadId,
    /// The subject of its first mail.
    pub subject: String,
    /// Who wrote or received its mails, as `Name <address>`, in order of appearance, at most 50.
    pub participants: Vec<String>,
    /// How many mails it has.
    pub messages: u32,
    /// When its newest mail was sent, RFC 3339 in UTC; none if no mail names a date.
    pub last_date: Option<String>,
}

/// The newest mails of one thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Thread {
    /// The thread's id.
    pub id: ThreadId,
    /// The subject of its first mail.
    pub subject: String,
    /// How many older mails were left out.
    pub omitted: u32,
    /// The mails, oldest first.
    pub messages: Vec<Message>,
}

/// One mail as text. Whatever it says was written by its sender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Message {
    /// Who it says it is from, as `Name <address>`; none if it does not say.
    pub from: Option<String>,
    /// To whom it is addressed.
    pub to: Vec<String>,
    /// Who got a copy.
    pub cc: Vec<String>,
    /// When it was sent, RFC 3339 in UTC; none if it names no valid date.
    pub date: Option<String>,
    /// Its subject, empty if it has none.
    pub subject: String,
    /// Its text, without attachments. A text that is too long ends with a note that it was cut.
    pub text: String,
    /// How many attachments it has. Neither their contents nor their names are given.
    pub attachments_omitted: u32,
}

impl ThreadSummary {
    /// Sums up the mails of a thread, oldest first.
    pub(super) fn new<'a>(id: ThreadId, mails: impl Iterator<Item = &'a Envelope>) -> Self {
        let mut summary = Self {
            id,
            subject: String::new(),
            participants: Vec::new(),
            messages: 0,
            last_date: None,
        };
        let mut known = HashSet::new();
        let mut newest = None;
        for mail in mails {
            if summary.messages == 0 {
                summary.subject.clone_from(&mail.subject);
            }
            summary.messages = summary.messages.saturating_add(1);
            newest = newest.max(mail.date);
            for person in mail.people() {
                if summary.participants.len() < PARTICIPANTS && known.insert(person.key()) {
                    summary.participants.push(person.shown());
                }
            }
        }
        summary.last_date = newest.map(|it| it.to_string());
        summary
    }
}

impl Message {
    pub(super) fn new(envelope: &Envelope, body: Body) -> Self {
        let shown = |people: &[Person]| people.iter().map(Person::shown).collect::<Vec<_>>();
        Self {
            from: (!envelope.from.is_empty()).then(|| shown(&envelope.from).join(", ")),
            to: shown(&envelope.to),
            cc: shown(&envelope.cc),
            date: envelope.date.map(|it| it.to_string()),
            subject: envelope.subject.clone(),
            text: body.text,
            attachments_omitted: body.attachments,
        }
    }
}

/// A count as it is shown.
pub(super) fn count(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}
