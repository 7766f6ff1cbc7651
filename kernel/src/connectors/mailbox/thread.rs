//! Which mails belong together.
//!
//! Every mail names the mails before it (`References`, or else `In-Reply-To`). From that each id
//! gets at most one parent, ids of mails that are not in this mailbox included, and a thread is
//! everything below one root. A reply that names no mail is put after the latest earlier mail
//! with its subject.
//!
//! INVARIANT: the result depends on the set of mails alone, never on their order.
//!
//! INVARIANT: a mail that is sent later, or without a date, moves no mail that is here to another
//! thread. A thread is what an owner selects for a worker to read, and mails come from anybody.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::envelope::{Envelope, hex};

/// How many earlier mails with the same subject are looked at for a reply that names no mail.
const LOOK_BACK: usize = 64;

/// What mail programs put before the subject of a reply, in lower case and several languages.
const REPLY: [&str; 15] = [
    "re", "aw", "antw", "antwort", "sv", "vs", "odp", "rif", "res", "ref", "ynt", "回复", "答复",
    "返信", "回覆",
];
/// The same for a mail that was handed on.
const FORWARD: [&str; 12] = [
    "fwd", "fw", "wg", "tr", "rv", "vl", "vb", "enc", "i", "doorst", "转发", "轉寄",
];

/// Names a thread for as long as its first mail does not change: `thr_` and 16 hex digits of the
/// SHA-256 of that mail's Message-ID.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String")]
#[schemars(!try_from)]
pub struct ThreadId(#[schemars(regex(pattern = r"^thr_[0-9a-f]{16}$"))] String);

/// A text that is no thread id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "this is not a thread id: expected \"thr_\" and 16 hex digits in lower case, as in the list of \
     threads"
)]
pub struct MalformedThreadId;

impl ThreadId {
    pub(super) fn of_root(message_id: &str) -> Self {
        let digest = Sha256::digest(message_id.as_bytes());
        Self(format!("thr_{}", hex(digest.get(..8).unwrap_or_default())))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ThreadId {
    type Err = MalformedThreadId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::try_from(text.to_owned())
    }
}

impl TryFrom<String> for ThreadId {
    type Error = MalformedThreadId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_id = text.strip_prefix("thr_").is_some_and(|digits| {
            digits.len() == 16
                && digits
                    .bytes()
                    .all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
        });
        if is_id {
            Ok(Self(text))
        } else {
            Err(MalformedThreadId)
        }
    }
}

/// The mails by thread: the root's message id, and positions in `mails`, oldest first.
/// The ids of `mails` must differ from each other.
pub(super) fn group<'a>(mails: &[&'a Envelope]) -> BTreeMap<&'a str, Vec<usize>> {
    let mut order: Vec<(usize, &Envelope)> = mails.iter().copied().enumerate().collect();
    order.sort_by_key(|(_, mail)| (mail.date, &mail.id));
    let roots = roots(&parents(order.iter().map(|(_, mail)| *mail).collect()));
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (position, mail) in order {
        let root = roots.get(mail.id.as_str()).copied().unwrap_or(&mail.id);
        groups.entry(root).or_default().push(position);
    }
    groups
}

/// Ids and the one parent that each has, if any.
type Parents<'a> = HashMap<&'a str, Option<&'a str>>;

/// A mail's own word about its parent counts before all others. For an id whose mail is not here,
/// the first mail that mentions it counts, so that a later one cannot move a known thread.
fn parents(mut mails: Vec<&Envelope>) -> Parents<'_> {
    let mut parents: Parents<'_> = mails
        .iter()
        .map(|mail| (mail.id.as_str(), mail.ancestors.last().map(String::as_str)))
        .collect();
    // A mail without a date could claim to be the oldest; it is heard last.
    mails.sort_by_key(|mail| (mail.date.is_none(), mail.date, &mail.id));
    for mail in &mails {
        let mut before = None;
        for ancestor in mail.ancestors.iter().map(String::as_str) {
            parents.entry(ancestor).or_insert(before);
            before = Some(ancestor);
        }
    }
    adopt_by_subject(&mails, &mut parents);
    parents
}

/// Gives a parent to replies that name none: the latest earlier mail with the same subject that
/// names the reply's sender. The sender must be in it because a subject is easily guessed.
fn adopt_by_subject<'a>(mails: &[&'a Envelope], parents: &mut Parents<'a>) {
    let mut earlier: HashMap<String, Vec<&'a Envelope>> = HashMap::new();
    for mail in mails {
        let (subject, is_reply) = base_subject(&mail.subject);
        if subject.is_empty() {
            continue;
        }
        let same = earlier.entry(subject).or_default();
        if is_reply && mail.ancestors.is_empty() {
            let senders: HashSet<String> = mail.from.iter().map(|it| it.key()).collect();
            let parent = same
                .iter()
                .rev()
                .take(LOOK_BACK)
                .find(|it| it.people().any(|person| senders.contains(&person.key())));
            if let Some(parent) = parent {
                parents.insert(&mail.id, Some(&parent.id));
            }
        }
        same.push(mail);
    }
}

/// The root above every id. Ids that are each other's ancestors have the least of them as root.
fn roots<'a>(parents: &Parents<'a>) -> HashMap<&'a str, &'a str> {
    let mut roots: HashMap<&str, &str> = HashMap::new();
    for start in parents.keys() {
        let mut path = Vec::new();
        let mut on_path = HashSet::new();
        let mut at = *start;
        let root = loop {
            if let Some(known) = roots.get(at) {
                break *known;
            }
            if !on_path.insert(at) {
                let circle = path.iter().skip_while(|it| **it != at);
                break circle.min().copied().unwrap_or(at);
            }
            path.push(at);
            match parents.get(at).copied().flatten() {
                Some(parent) => at = parent,
                None => break at,
            }
        };
        roots.extend(path.into_iter().map(|it| (it, root)));
    }
    roots
}

/// A subject without the marks of replies and forwards and in lower case, and whether its
/// outermost mark is that of a reply.
fn base_subject(subject: &str) -> (String, bool) {
    let lower = subject.to_lowercase();
    let mut rest = lower.trim();
    let mut is_reply = None;
    while let Some((mark, after)) = rest.split_once([':', '：']) {
        // "Re[2]:" and "Re (2):" count replies.
        let mark = mark.trim_end_matches(|it: char| it.is_ascii_digit() || "[]()^ ".contains(it));
        let is_reply_mark = REPLY.contains(&mark);
        if !is_reply_mark && !FORWARD.contains(&mark) {
            break;
        }
        is_reply.get_or_insert(is_reply_mark);
        rest = after.trim_start();
    }
    (rest.to_owned(), is_reply.unwrap_or(false))
}
