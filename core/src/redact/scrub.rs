//! Texts that must not appear where people look: what to look for, and taking it out.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use data_encoding::{BASE64, BASE64_NOPAD};
use serde_json::Value;

use super::MARKER;
use super::layers::decoded;

/// Shorter texts, in characters, are not looked for: they stand in harmless text too often.
pub const MIN_SCRUBBED: usize = 4;

/// Numbers of fewer digits are not looked for, for the same reason.
pub const MIN_SCRUBBED_DIGITS: usize = 6;

/// At most so many texts are looked for, ...
const MAX_TEXTS: usize = 4096;
/// ... of so many bytes in all. With more, or with longer ones, all of a text is taken out.
const MAX_BYTES: usize = 64 * 1024;

/// Texts that must not appear in an operator's log or a ledger.
///
/// They are found as they are, escaped as in JSON or in Rust's debug print, percent-encoded (a space
/// as `+` too), each in any spelling and also one within the other; and in base64 (RFC 4648, either
/// alphabet, with and without padding), also as a part of a longer text that was encoded, such as the
/// `user:password` of HTTP.
///
/// What it does not find: texts shorter than [`MIN_SCRUBBED`] characters, numbers of fewer digits
/// than [`MIN_SCRUBBED_DIGITS`], a part of a secret alone, the names of members, and what is encoded
/// in another way or more than twice.
///
/// ```
/// # use actum::redact::Scrubber;
/// # use serde_json::json;
/// let mut scrubber = Scrubber::default();
/// scrubber.note(&json!({"user": "ada lovelace", "pin": 73461258}));
/// assert_eq!(scrubber.scrub("no account ada%20lovelace"), "no account [SECRET]");
/// assert_eq!(scrubber.scrub("pin 73461258 refused"), "pin [SECRET] refused");
/// ```
#[derive(Clone, Default)]
pub struct Scrubber {
    texts: BTreeSet<String>,
    bytes: usize,
    /// There is more than can be looked for.
    overflows: bool,
    /// Looks for all forms of all texts, once it is asked to; `None` where it cannot be built.
    search: OnceLock<Option<AhoCorasick>>,
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scrubber({} texts)", self.texts.len())
    }
}

impl Scrubber {
    /// Looks for every text and long number in a value from now on.
    pub fn note(&mut self, value: &Value) {
        let mut next = vec![value];
        while let Some(value) = next.pop() {
            match value {
                Value::String(text) => self.note_text(text),
                Value::Number(number) => {
                    let text = number.to_string();
                    let digits = text.bytes().filter(u8::is_ascii_digit).count();
                    if digits >= MIN_SCRUBBED_DIGITS {
                        self.note_text(&text);
                    }
                }
                Value::Array(elements) => next.extend(elements),
                Value::Object(members) => next.extend(members.values()),
                Value::Null | Value::Bool(_) => {}
            }
        }
    }

    /// Looks for what stands in the raw form of a value and not in the redacted one.
    pub fn note_differences(&mut self, raw: &Value, redacted: &Value) {
        let mut next = vec![(raw, redacted)];
        while let Some((raw, redacted)) = next.pop() {
            match (raw, redacted) {
                (Value::Object(raw), Value::Object(redacted)) => {
                    for (name, raw) in raw {
                        match redacted.get(name) {
                            Some(redacted) => next.push((raw, redacted)),
                            None => self.note(raw),
                        }
                    }
                }
                (Value::Array(raw), Value::Array(redacted)) if raw.len() == redacted.len() => {
                    next.extend(raw.iter().zip(redacted));
                }
                (raw, redacted) if raw == redacted => {}
                (raw, _) => self.note(raw),
            }
        }
    }

    /// The text with [`MARKER`] in place of each text that is looked for. Where several overlap, one
    /// marker is in place of all of them.
    #[must_use]
    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.texts.is_empty() && !self.overflows {
            return Cow::Borrowed(text);
        }
        let search = match self.overflows {
            true => None,
            false => self.search.get_or_init(|| self.build()).as_ref(),
        };
        let Some(search) = search else {
            return Cow::Borrowed(MARKER);
        };
        let found = search.find_overlapping_iter(text);
        let mut found: Vec<Range<usize>> = found.map(|found| found.range()).collect();
        for layer in decoded(text) {
            let within = search.find_overlapping_iter(layer.bytes());
            found.extend(within.filter_map(|found| layer.origin(found.range())));
        }
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(without(text, found))
    }

    /// There is a secret that cannot be looked for.
    pub(super) fn note_unknown(&mut self) {
        self.overflows = true;
    }

    fn note_text(&mut self, text: &str) {
        // Errors often show a text without the line end that it was read with.
        let text = text.trim();
        let is_short = text.chars().nth(MIN_SCRUBBED - 1).is_none();
        // The marker would be found in itself.
        if is_short || MARKER.contains(text) || self.texts.contains(text) {
            return;
        }
        let bytes = self.bytes.saturating_add(text.len());
        if bytes > MAX_BYTES || self.texts.len() == MAX_TEXTS {
            self.overflows = true;
            return;
        }
        self.bytes = bytes;
        self.texts.insert(text.to_owned());
        self.search = OnceLock::new();
    }

    fn build(&self) -> Option<AhoCorasick> {
        let forms: BTreeSet<String> = self.texts.iter().flat_map(|text| forms(text)).collect();
        AhoCorasick::new(forms).ok()
    }
}

/// The forms in which a text is looked for; escapes and percent-encoding are undone in what is
/// searched instead, as they have many spellings.
fn forms(text: &str) -> Vec<String> {
    // A form of HTML has `+` for a space.
    let mut forms = vec![text.to_owned(), text.replace(' ', "+")];
    let padded = [
        BASE64.encode(text.as_bytes()),
        BASE64_NOPAD.encode(text.as_bytes()),
    ];
    for base64 in padded.into_iter().chain(base64_within(text)) {
        forms.push(base64.replace('+', "-").replace('/', "_"));
        forms.push(base64);
    }
    forms
}

/// What of the base64 of any longer text depends on this part of it alone. Each character has six
/// bits, so that there are three forms: the part begins at a multiple of three bytes, or one or two
/// bytes after it (RFC 4648, section 4).
fn base64_within(text: &str) -> impl Iterator<Item = String> {
    (0..3).filter_map(move |before| {
        let mut bytes = vec![0; before];
        bytes.extend(text.as_bytes());
        let encoded = BASE64_NOPAD.encode(&bytes);
        let (first, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        encoded.get(first..end).map(str::to_owned)
    })
}

/// The text with the marker in place of these parts.
fn without(text: &str, mut parts: Vec<Range<usize>>) -> String {
    parts.sort_unstable_by_key(|part| (part.start, part.end));
    let (mut kept, mut end) = (String::with_capacity(text.len()), 0);
    for part in parts {
        if part.start >= end {
            kept.push_str(text.get(end..part.start).unwrap_or_default());
            kept.push_str(MARKER);
        }
        end = end.max(part.end);
    }
    kept.push_str(text.get(end..).unwrap_or_default());
    kept
}

#[cfg(test)]
mod tests;
