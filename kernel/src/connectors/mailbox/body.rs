//! A mail's body as one text.
//!
//! The MIME tree (RFC 2045 to 2049) is walked here, part by part and to a fixed depth, and only
//! the parts that are shown are decoded. A library that decodes a whole mail would follow nested
//! mails as deep as their author likes.

use std::panic::{self, AssertUnwindSafe};

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::parsers::MessageStream;
use mail_parser::{ContentType, Message, MessageParser, MimeHeaders};

use super::envelope::split;
use super::{Limits, html};
use crate::printable;

/// Multiparts within multiparts. Real mails have up to four or five.
const DEPTH: usize = 16;
/// Parts of one mail.
const PARTS: usize = 1_000;

const NOT_PARSABLE: &str = "[This message cannot be shown: its parts cannot be parsed.]";

/// What is shown of a body.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) text: String,
    /// Parts that are not shown: files, pictures, mails within the mail.
    pub(super) attachments: u32,
}

impl Body {
    /// A note in place of a text.
    pub(super) fn note(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            attachments: 0,
        }
    }

    pub(super) fn read(raw: &[u8], limits: &Limits) -> Self {
        // Decoders of other crates work on a stranger's bytes here. See `Envelope::read`.
        panic::catch_unwind(AssertUnwindSafe(|| {
            let mut walk = Walk {
                attachments: 0,
                parts: 0,
                text_bytes: limits.text_bytes,
            };
            let text = walk.part(raw, 0);
            Self {
                text: printable::block(&text, limits.text_bytes),
                attachments: walk.attachments,
            }
        }))
        .unwrap_or_else(|_| Self::note(NOT_PARSABLE))
    }
}

/// What a part is to its reader.
enum Kind<'a> {
    Plain,
    Html,
    Multipart {
        boundary: &'a str,
        is_alternative: bool,
        is_digest: bool,
    },
    Attachment,
}

struct Walk {
    attachments: u32,
    parts: usize,
    text_bytes: usize,
}

impl Walk {
    /// The text of one part and what is below it.
    fn part(&mut self, raw: &[u8], depth: usize) -> String {
        self.parts += 1;
        let (head, body) = split(raw);
        let header = MessageParser::default()
            .parse_headers(head)
            .unwrap_or_default();
        if header.parts.is_empty() {
            // A part may have no header at all: plain text, by RFC 2046.
            return decoded_text(None, None, body);
        }
        self.described_part(&header, body, depth)
    }

    fn described_part(&mut self, header: &Message<'_>, body: &[u8], depth: usize) -> String {
        let root = header.root_part();
        let content_type = root.content_type();
        let encoding = root.content_transfer_encoding();
        match kind(root) {
            Kind::Plain => decoded_text(content_type, encoding, body),
            Kind::Html => {
                let page = decoded_text(content_type, encoding, body);
                html::to_text(&page, self.text_bytes)
            }
            Kind::Multipart {
                boundary,
                is_alternative,
                is_digest,
            } => {
                let children = children(body, boundary);
                if children.is_empty() {
                    // Cut off before its first part, or not a multipart at all.
                    return decoded_text(None, encoding, body);
                }
                self.children(&children, depth, is_alternative, is_digest)
            }
            Kind::Attachment => {
                self.attachments += 1;
                String::new()
            }
        }
    }

    fn children(
        &mut self,
        children: &[&[u8]],
        depth: usize,
        is_alternative: bool,
        is_digest: bool,
    ) -> String {
        let mut texts = Vec::new();
        for child in children {
            if is_digest || depth >= DEPTH || self.parts >= PARTS {
                // Mails of a digest are mails within the mail; what is too deep or too much is
                // counted and not opened.
                self.attachments = self.attachments.saturating_add(1);
                continue;
            }
            let text = self.part(child, depth + 1);
            if !text.trim().is_empty() {
                texts.push((is_plain(child), text));
            }
        }
        if is_alternative {
            // RFC 2046 orders alternatives from the plainest to the richest. The plain text is
            // wanted; without one, the richest that has any text.
            let plain = texts.iter().position(|(is_plain, _)| *is_plain);
            let chosen = plain.unwrap_or(texts.len().saturating_sub(1));
            return texts
                .into_iter()
                .nth(chosen)
                .map(|it| it.1)
                .unwrap_or_default();
        }
        let texts: Vec<String> = texts.into_iter().map(|it| it.1).collect();
        texts.join("\n\n")
    }
}

fn kind<'a>(part: &'a mail_parser::MessagePart<'a>) -> Kind<'a> {
    if part
        .content_disposition()
        .is_some_and(ContentType::is_attachment)
    {
        return Kind::Attachment;
    }
    let Some(content_type) = part.content_type() else {
        return Kind::Plain;
    };
    let subtype = content_type.subtype().unwrap_or_default();
    match content_type.ctype() {
        it if it.eq_ignore_ascii_case("multipart") => Kind::Multipart {
            boundary: content_type.attribute("boundary").unwrap_or_default(),
            is_alternative: subtype.eq_ignore_ascii_case("alternative"),
            is_digest: subtype.eq_ignore_ascii_case("digest"),
        },
        // A named text is a file, whatever its disposition says.
        it if it.eq_ignore_ascii_case("text") && content_type.attribute("name").is_none() => {
            match subtype {
                it if it.eq_ignore_ascii_case("html") => Kind::Html,
                it if it.eq_ignore_ascii_case("plain") || it.is_empty() => Kind::Plain,
                _ => Kind::Attachment,
            }
        }
        _ => Kind::Attachment,
    }
}

fn is_plain(part: &[u8]) -> bool {
    let (head, _) = split(part);
    MessageParser::default()
        .parse_headers(head)
        .is_none_or(|header| matches!(kind(header.root_part()), Kind::Plain))
}

/// The parts of a multipart: what stands between its delimiter lines. The last part of a mail
/// that was cut off ends where the mail does.
fn children<'a>(body: &'a [u8], boundary: &str) -> Vec<&'a [u8]> {
    let mut found = Vec::new();
    let mut open: Option<usize> = None;
    let mut at = 0;
    for line in body.split_inclusive(|it| *it == b'\n') {
        let start = at;
        at += line.len();
        let Some(rest) = line
            .strip_prefix(b"--")
            .and_then(|it| it.strip_prefix(boundary.as_bytes()))
        else {
            continue;
        };
        let rest = rest.trim_ascii_end();
        let is_last = rest == b"--";
        if !is_last && !rest.is_empty() {
            continue;
        }
        if let Some(part) = open.take().and_then(|from| body.get(from..start)) {
            found.push(part);
        }
        if is_last || found.len() > PARTS {
            return found;
        }
        open = Some(at);
    }
    found.extend(open.and_then(|from| body.get(from..)));
    found
}

/// A text part's bytes as text: transfer encoding, then charset, each as well as it can be done.
fn decoded_text(
    content_type: Option<&ContentType<'_>>,
    encoding: Option<&str>,
    body: &[u8],
) -> String {
    let bytes = match encoding.map(str::trim) {
        Some(it) if it.eq_ignore_ascii_case("base64") => decoded_base64(body),
        Some(it) if it.eq_ignore_ascii_case("quoted-printable") => {
            let (end, bytes) = MessageStream::new(body).decode_quoted_printable_mime(b"");
            (end != usize::MAX).then(|| bytes.into_owned())
        }
        _ => None,
    };
    let bytes = bytes.as_deref().unwrap_or(body);
    let charset = content_type.and_then(|it| it.attribute("charset"));
    match charset.and_then(|it| charset_decoder(it.trim().as_bytes())) {
        Some(decode) => decode(bytes),
        None => guessed_text(bytes),
    }
}

/// Base64, without whatever does not belong to it if there is any. Nothing if nothing is left.
fn decoded_base64(body: &[u8]) -> Option<Vec<u8>> {
    base64_decode(body)
        .or_else(|| {
            let clean: Vec<u8> = body
                .iter()
                .copied()
                .filter(|it| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'/'))
                .collect();
            base64_decode(&clean)
        })
        .filter(|it| !it.is_empty())
}

/// A text that does not say what it is written in: UTF-8, or else the old Western default.
fn guessed_text(bytes: &[u8]) -> String {
    let lossy = String::from_utf8_lossy(bytes);
    let is_mostly_utf8 = lossy
        .chars()
        .any(|it| !it.is_ascii() && it != char::REPLACEMENT_CHARACTER);
    match charset_decoder(b"windows-1252") {
        Some(decode) if lossy.contains(char::REPLACEMENT_CHARACTER) && !is_mostly_utf8 => {
            decode(bytes)
        }
        _ => lossy.into_owned(),
    }
}
