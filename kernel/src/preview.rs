//! Drafts: what a worker shows to the owner, exactly, and as the owner reads it.
//!
//! A preview is the call that showed it: its id is the call's, its content the call's arguments, and the record that
//! the call began is the ledger's word for both.

use std::fmt::Write as _;

use actum::Digest;
use actum::digest::NotCanonical;
use actum::schema::ArgumentFault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::printable;

/// The longest address, in bytes: what SMTP has room for (RFC 5321, 4.5.3.1.3, and its errata 1690).
const MAX_ADDRESS: usize = 254;

/// A draft of something that is to be sent or published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// What this is a draft of, in one line of 1 to 200 characters.
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    /// What kind of text it is.
    pub kind: DraftKind,
    /// Of a mail, and of nothing else: the addresses that it goes to, 1 to 20, such as `robin@example.org`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub to: Vec<String>,
    /// Of a mail, and of nothing else: its subject, in one line of at most 400 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 400))]
    pub subject: Option<String>,
    /// The text itself, 1 to 50,000 characters.
    #[schemars(length(min = 1, max = 50_000))]
    pub body: String,
}

/// The kind of a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DraftKind {
    /// A mail, of plain text.
    Mail,
    /// Plain text.
    Text,
    /// Markdown; it is shown as it is written.
    Markdown,
}

impl Draft {
    /// The digest of exactly this content: SHA-256 over its canonical JSON (RFC 8785), without what it leaves out.
    ///
    /// # Errors
    /// [`NotCanonical`] for a text that JSON cannot hold.
    pub fn digest(&self) -> Result<Digest, NotCanonical> {
        Digest::of_json(self)
    }

    /// Every fault that no schema tells of.
    #[must_use]
    pub fn faults(&self) -> Vec<ArgumentFault> {
        let mut faults = Vec::new();
        let mut fault = |at: &str, problem: &str| {
            faults.push(ArgumentFault {
                at: at.to_owned(),
                problem: problem.to_owned(),
            });
        };
        let of_several_lines = |text: &str| text.chars().any(char::is_control);
        if of_several_lines(&self.title) {
            fault("/title", "has to be one line without control characters");
        }
        match self.kind {
            DraftKind::Mail => {
                if self.to.is_empty() {
                    fault("/to", "a mail goes to at least one address");
                }
                if self.subject.is_none() {
                    fault("/subject", "a mail has a subject");
                }
            }
            DraftKind::Text | DraftKind::Markdown => {
                if !self.to.is_empty() {
                    fault("/to", "only a mail goes to somebody; leave it out");
                }
                if self.subject.is_some() {
                    fault("/subject", "only a mail has a subject; leave it out");
                }
            }
        }
        // A line end in either would be a header of the model's own.
        if self.subject.as_deref().is_some_and(of_several_lines) {
            fault("/subject", "has to be one line without control characters");
        }
        for (index, address) in self.to.iter().enumerate() {
            if !is_address(address) {
                let problem = "is no address such as robin@example.org, alone and without a name";
                fault(&format!("/to/{index}"), problem);
            }
        }
        faults
    }

    /// The draft as the owner reads it: plain text, whatever it says of markup. What would not be seen, or would turn
    /// around what is, stands there by its code point; letters of addresses that are not ASCII are named, since
    /// they may look like others.
    #[must_use]
    pub fn rendered(&self) -> String {
        let mut out = format!("{}\n", printable::visible(&self.title));
        for address in &self.to {
            let _ = writeln!(out, "To: {}{}", printable::visible(address), named(address));
        }
        if let Some(subject) = &self.subject {
            let _ = writeln!(out, "Subject: {}", printable::visible(subject));
        }
        let _ = write!(out, "\n{}", printable::visible(&self.body));
        out
    }
}

/// Whether a text is one address: no name, no list, nothing that a header would read as more.
fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else {
        return false;
    };
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !r#"<>()[]{},;:\"@"#.contains(c);
    text.len() <= MAX_ADDRESS
        && !local.is_empty()
        && !domain.is_empty()
        && !domain.starts_with('.')
        && !domain.ends_with('.')
        && local.chars().chain(domain.chars()).all(plain)
        && printable::visible(text) == text
}

/// The letters of an address that are not ASCII, by their code points.
fn named(address: &str) -> String {
    let strange: Vec<String> = address
        .chars()
        .filter(|c| !c.is_ascii())
        .map(|c| format!("{c} is U+{:04X}", u32::from(c)))
        .collect();
    match strange.is_empty() {
        true => String::new(),
        false => format!("   [not ASCII: {}]", strange.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail() -> Draft {
        Draft {
            title: "Answer to the plumber".to_owned(),
            kind: DraftKind::Mail,
            to: vec!["plumber@example.org".to_owned()],
            subject: Some("Tuesday".to_owned()),
            body: "Come on Tuesday.\n".to_owned(),
        }
    }

    #[test]
    fn the_digest_is_of_the_very_content() {
        let digest = mail().digest().unwrap();
        let read: Draft = serde_json::from_value(serde_json::to_value(mail()).unwrap()).unwrap();
        assert_eq!(read.digest().unwrap(), digest);
        let body = "Come on Tuesday. ".to_owned();
        assert_ne!(Draft { body, ..mail() }.digest().unwrap(), digest);
    }

    #[test]
    fn a_mail_needs_what_a_mail_has_and_nothing_becomes_another_header() {
        assert_eq!(mail().faults(), []);
        let places = |draft: Draft| -> Vec<String> {
            draft.faults().into_iter().map(|fault| fault.at).collect()
        };
        let bare = Draft {
            to: vec![],
            subject: None,
            ..mail()
        };
        assert_eq!(places(bare), ["/to", "/subject"]);
        let text = Draft {
            kind: DraftKind::Text,
            ..mail()
        };
        assert_eq!(places(text), ["/to", "/subject"]);
        let injected = Draft {
            subject: Some("Hi\r\nBcc: x@example.org".to_owned()),
            ..mail()
        };
        assert_eq!(places(injected), ["/subject"]);
        for bad in [
            "",
            "nobody",
            "@example.org",
            "a@",
            "a@b@c",
            "a b@example.org",
            "a@example.org, b@example.org",
            "Robin <robin@example.org>",
            "a@example.org\nBcc: b@example.org",
            "a\u{202e}@example.org",
        ] {
            let to = vec![bad.to_owned()];
            assert_eq!(places(Draft { to, ..mail() }), ["/to/0"], "{bad:?}");
        }
    }

    #[test]
    fn what_cannot_be_seen_is_shown_and_what_looks_like_another_letter_is_named() {
        let draft = Draft {
            to: vec!["r\u{43e}bin@example.org".to_owned()],
            body: "<b>pay</b>\u{202e}now\u{1b}[2J\u{200b}".to_owned(),
            ..mail()
        };
        let shown = draft.rendered();
        for piece in [
            "<b>pay</b>",
            "\u{27e8}U+202E\u{27e9}now\u{27e8}U+001B\u{27e9}[2J\u{27e8}U+200B\u{27e9}",
            "[not ASCII: \u{43e} is U+043E]",
        ] {
            assert!(shown.contains(piece), "{shown}");
        }
        assert!(!shown.contains('\u{202e}') && !shown.contains('\u{1b}'));
    }
}
