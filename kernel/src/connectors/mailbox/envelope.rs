//! A mail's header: who, when, about what, and in answer to which mail.

use std::borrow::Cow;
use std::panic::{self, AssertUnwindSafe};

use jiff::Timestamp;
use jiff::civil;
use jiff::tz::Offset;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::{Address, DateTime, HeaderName, HeaderValue, MessageParser};

use super::Limits;
use super::fault::SkipReason;
use crate::printable;

/// Bytes of a header that are read; what follows is ignored. Mail servers refuse far shorter ones.
const HEADER_BYTES: usize = 256 << 10;
/// Bytes of a message id. RFC 5322 lines hold 998.
const ID_BYTES: usize = 998;
const SUBJECT_CHARS: usize = 500;
const NAME_CHARS: usize = 200;
/// The longest address that RFC 5321 allows.
const ADDRESS_CHARS: usize = 320;

/// One mailbox of an address header.
#[derive(Debug, Clone)]
pub(super) struct Person {
    name: String,
    address: String,
}

impl Person {
    /// What makes two mentions the same person: the address in lower case, else the name.
    pub(super) fn key(&self) -> String {
        if self.address.is_empty() {
            self.name.to_lowercase()
        } else {
            self.address.to_lowercase()
        }
    }

    /// `Name <address>`, or whichever of the two there is.
    pub(super) fn shown(&self) -> String {
        if self.address.is_empty() {
            self.name.clone()
        } else if self.name.is_empty() || self.name == self.address {
            self.address.clone()
        } else {
            format!("{} <{}>", self.name, self.address)
        }
    }
}

#[derive(Debug)]
pub(super) struct Envelope {
    /// The Message-ID, or for a mail without one an id made of its bytes. The latter contains
    /// `<`, which the former cannot.
    pub(super) id: String,
    /// The mails it answers, from the first of the thread to the direct parent. Never its own id.
    pub(super) ancestors: Vec<String>,
    /// `Date`, or when the last server received it.
    pub(super) date: Option<Timestamp>,
    pub(super) from: Vec<Person>,
    pub(super) to: Vec<Person>,
    pub(super) cc: Vec<Person>,
    pub(super) subject: String,
}

impl Envelope {
    pub(super) fn read(raw: &[u8], digest: &[u8; 32], limits: &Limits) -> Result<Self, SkipReason> {
        let (head, _) = split(raw);
        let head = readable(head);
        // The parser claims never to panic, and has been found to. One mail must not cost the rest.
        let parsed = panic::catch_unwind(AssertUnwindSafe(|| {
            MessageParser::default()
                .parse_headers(head.as_ref())
                .map(|message| Self::of(&Fields(message.headers()), digest, limits))
        }));
        match parsed {
            Err(_) => Err(SkipReason::Unparsable),
            Ok(None | Some(None)) => Err(SkipReason::NoHeader),
            Ok(Some(Some(envelope))) => Ok(envelope),
        }
    }

    fn of(fields: &Fields<'_>, digest: &[u8; 32], limits: &Limits) -> Option<Self> {
        const SIGNS: [HeaderName<'static>; 7] = [
            HeaderName::From,
            HeaderName::Sender,
            HeaderName::To,
            HeaderName::Subject,
            HeaderName::Date,
            HeaderName::MessageId,
            HeaderName::Received,
        ];
        if !SIGNS.iter().any(|it| fields.first(it).is_some()) {
            return None;
        }
        let id = fields
            .ids(&HeaderName::MessageId)
            .into_iter()
            .next()
            .unwrap_or_else(|| format!("<{}>", hex(digest)));
        let mut ancestors = fields.ids(&HeaderName::References);
        if ancestors.is_empty() {
            ancestors = fields.ids(&HeaderName::InReplyTo);
            ancestors.truncate(1);
        }
        ancestors.retain(|it| *it != id);
        // The first one names the thread, the last ones the place in it.
        let most = limits.references.max(1);
        if ancestors.len() > most {
            ancestors.drain(1..=ancestors.len() - most);
        }
        let people = |name| fields.people(name, limits.people);
        let mut from = people(&HeaderName::From);
        if from.is_empty() {
            from = people(&HeaderName::Sender);
        }
        Some(Self {
            id,
            ancestors,
            date: fields.date(),
            from,
            to: people(&HeaderName::To),
            cc: people(&HeaderName::Cc),
            subject: fields.subject(),
        })
    }

    /// Everybody named by the mail: its senders first.
    pub(super) fn people(&self) -> impl Iterator<Item = &Person> {
        self.from.iter().chain(&self.to).chain(&self.cc)
    }
}

/// A parsed header. Of a field that is given twice, the first one counts.
struct Fields<'a>(&'a [mail_parser::Header<'a>]);

impl<'a> Fields<'a> {
    fn first(&self, name: &HeaderName<'_>) -> Option<&'a HeaderValue<'a>> {
        self.0
            .iter()
            .find(|it| it.name == *name)
            .map(|it| &it.value)
    }

    fn ids(&self, name: &HeaderName<'_>) -> Vec<String> {
        let ids = match self.first(name) {
            Some(HeaderValue::Text(id)) => std::slice::from_ref(id),
            Some(HeaderValue::TextList(ids)) => ids.as_slice(),
            _ => &[],
        };
        ids.iter()
            .map(|id| id.trim())
            .filter(|id| !id.is_empty() && id.len() <= ID_BYTES && !id.contains('<'))
            .map(str::to_owned)
            .collect()
    }

    fn people(&self, name: &HeaderName<'_>, most: usize) -> Vec<Person> {
        self.first(name)
            .and_then(HeaderValue::as_address)
            .into_iter()
            .flat_map(Address::iter)
            .map(|it| Person {
                // Brackets in a name could pass for the address that follows it.
                name: printable::line(it.name().unwrap_or_default(), NAME_CHARS)
                    .replace(['<', '>'], ""),
                address: printable::line(it.address().unwrap_or_default(), ADDRESS_CHARS),
            })
            .filter(|it| !(it.name.is_empty() && it.address.is_empty()))
            .take(most)
            .collect()
    }

    fn subject(&self) -> String {
        let subject = self.first(&HeaderName::Subject);
        printable::line(
            subject.and_then(HeaderValue::as_text).unwrap_or_default(),
            SUBJECT_CHARS,
        )
    }

    fn date(&self) -> Option<Timestamp> {
        let sent = self.first(&HeaderName::Date);
        // Each server puts its own field before the others, so the first is the last one's.
        let received = self.first(&HeaderName::Received);
        sent.and_then(HeaderValue::as_datetime)
            .and_then(timestamp)
            .or_else(|| timestamp(received?.as_received()?.date.as_ref()?))
    }
}

/// The moment that a date header names, unless it names none, or one before there was e-mail.
fn timestamp(date: &DateTime) -> Option<Timestamp> {
    let local = civil::DateTime::new(
        i16::try_from(date.year).ok()?,
        i8::try_from(date.month).ok()?,
        i8::try_from(date.day).ok()?,
        i8::try_from(date.hour).ok()?,
        i8::try_from(date.minute).ok()?,
        // A leap second, 60, is told as the one before it.
        i8::try_from(date.second.min(59)).ok()?,
        0,
    )
    .ok()?;
    let east = i32::from(date.tz_hour) * 3600 + i32::from(date.tz_minute) * 60;
    let offset = Offset::from_seconds(if date.tz_before_gmt { -east } else { east }).ok()?;
    offset
        .to_timestamp(local)
        .ok()
        .filter(|it| it.as_second() > 0)
}

/// A mail, or one part of it, as header and body. The blank line between them is in neither.
pub(super) fn split(raw: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    for line in raw.split_inclusive(|it| *it == b'\n') {
        if line == b"\n" || line == b"\r\n" {
            let head = raw.get(..at.min(HEADER_BYTES)).unwrap_or_default();
            return (head, raw.get(at + line.len()..).unwrap_or_default());
        }
        at += line.len();
    }
    (raw.get(..at.min(HEADER_BYTES)).unwrap_or_default(), &[])
}

/// A header as UTF-8. Old programs wrote Western European letters into it without a word about it.
fn readable(head: &[u8]) -> Cow<'_, [u8]> {
    match (std::str::from_utf8(head), charset_decoder(b"windows-1252")) {
        (Err(_), Some(decode)) => Cow::Owned(decode(head).into_bytes()),
        _ => Cow::Borrowed(head),
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}
