//! Documents that people write: a tree whose every node knows its place, and a decoding layer that
//! reports all faults of a file at once.
//!
//! Manifests and the kernel's configuration are read with it. [`record!`] declares a struct together
//! with how it is read, [`choice!`] does so for a closed set of names, and [`decode_yaml`] is the way
//! in. An unknown field is always a fault: a misspelt key must never switch a gate off in silence.
//!
//! ```
//! use actum::authority::document::{decode_yaml, record};
//!
//! record! {
//!     /// Where to listen.
//!     pub struct Listen {
//!         /// The host.
//!         pub host: String = "127.0.0.1".to_owned(),
//!         /// The port.
//!         pub port: u16,
//!     }
//! }
//!
//! let listen: Listen = decode_yaml("listen.yaml", "port: 8080\n").unwrap();
//! assert_eq!((listen.host.as_str(), listen.port), ("127.0.0.1", 8080));
//!
//! let faults = decode_yaml::<Listen>("listen.yaml", "prot: 8080\n").unwrap_err();
//! assert_eq!(
//!     faults.to_string(),
//!     "listen.yaml:1:1: field `port`: it is missing; add it, with a whole number from 0 to 65535\n\
//!      listen.yaml:1:1: field `prot`: there is no such field; did you mean `port`?"
//! );
//! ```

mod at;
mod declare;
mod fault;
mod scalar;
mod value;
mod yaml;

pub use at::{At, Fields};
pub use declare::{choice, record};
pub use fault::{Fault, Faults, MAX_FAULTS, Position, Report};
pub use value::{Choice, Decode, Located};

/// The longest text that is read, in bytes.
pub const MAX_BYTES: usize = 1 << 20;
/// The deepest nesting of lists and maps that is read.
pub const MAX_DEPTH: usize = 64;
/// The most values (keys included) that one document may have.
pub const MAX_NODES: usize = 100_000;

/// How much of one document is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The longest text, in bytes.
    pub bytes: usize,
    /// The most values, keys included.
    pub nodes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            bytes: MAX_BYTES,
            nodes: MAX_NODES,
        }
    }
}

/// A value of a document, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Where it begins; `None` for a value that came from no text.
    pub position: Option<Position>,
}

/// What a [`Node`] holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// `null`, `~` or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// Any other number; may be infinite or no number in YAML.
    Float(f64),
    /// Text.
    Str(String),
    /// A list.
    Seq(Vec<Node>),
    /// A map, in the order written, no key twice.
    Map(Vec<Entry>),
    /// A value whose fault was reported already; decoders pass over it in silence.
    Unreadable,
}

/// One field of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key begins.
    pub position: Option<Position>,
    /// The value.
    pub value: Node,
}

impl Node {
    /// A tree without places, from a JSON value. Faults go to `report`.
    #[must_use]
    pub fn from_json(value: &serde_json::Value, report: &Report) -> Option<Self> {
        let mut nodes = 0;
        let node = from_json(value, 0, &mut nodes);
        if node.is_none() {
            report.fault(
                None,
                "",
                "the value is too large",
                format!("at most {MAX_DEPTH} levels and {MAX_NODES} values are read"),
            );
        }
        node
    }

    /// The text of a map's field, if there is one.
    #[must_use]
    pub fn text_field(&self, key: &str) -> Option<&str> {
        let Kind::Map(entries) = &self.kind else {
            return None;
        };
        match &entries.iter().find(|entry| entry.key == key)?.value.kind {
            Kind::Str(text) => Some(text),
            _ => None,
        }
    }

    /// What to call the node in a sentence that begins with "found". Never its content: that may be
    /// a secret in the wrong place.
    #[must_use]
    pub fn describe(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing (null)",
            Kind::Bool(_) => "true or false",
            Kind::Int(_) | Kind::Float(_) => "a number",
            Kind::Str(_) => "text",
            Kind::Seq(_) => "a list",
            Kind::Map(_) => "a map",
            Kind::Unreadable => "an unreadable value",
        }
    }
}

fn from_json(value: &serde_json::Value, depth: usize, nodes: &mut usize) -> Option<Node> {
    use serde_json::Value;

    *nodes += 1;
    if depth > MAX_DEPTH || *nodes > MAX_NODES {
        return None;
    }
    let kind = match value {
        Value::Null => Kind::Null,
        Value::Bool(flag) => Kind::Bool(*flag),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(int), _) => Kind::Int(int.into()),
            (None, Some(int)) => Kind::Int(int.into()),
            (None, None) => Kind::Float(number.as_f64()?),
        },
        Value::String(text) => Kind::Str(text.clone()),
        Value::Array(items) => Kind::Seq(
            items
                .iter()
                .map(|item| from_json(item, depth + 1, nodes))
                .collect::<Option<_>>()?,
        ),
        Value::Object(fields) => Kind::Map(
            fields
                .iter()
                .map(|(key, value)| {
                    let value = from_json(value, depth + 1, nodes)?;
                    Some(Entry {
                        key: key.clone(),
                        position: None,
                        value,
                    })
                })
                .collect::<Option<_>>()?,
        ),
    };
    Some(Node {
        kind,
        position: None,
    })
}

/// Reads one YAML document as a `T`. `file` is how the faults call it.
///
/// # Errors
/// Every fault of the text and of its fields.
pub fn decode_yaml<T: Decode>(file: &str, text: &str) -> Result<T, Faults> {
    let report = Report::of_file(file);
    let node = Node::from_yaml(text, &report);
    let value = node.and_then(|node| T::decode(&At::root(&node, &report)));
    report.finish(value)
}

/// Reads a JSON value as a `T`.
///
/// # Errors
/// Every fault of its fields, without a place.
pub fn decode_json<T: Decode>(value: &serde_json::Value) -> Result<T, Faults> {
    let report = Report::of_value();
    let node = Node::from_json(value, &report);
    let value = node.and_then(|node| T::decode(&At::root(&node, &report)));
    report.finish(value)
}

/// A text as a fault quotes it: on one line, at most 64 characters, nothing that hides or reorders.
pub(in crate::authority) fn excerpt(text: &str) -> String {
    const MOST: usize = 64;
    let hides = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    let mut excerpt = String::new();
    for (index, c) in text.chars().enumerate() {
        if index == MOST {
            excerpt.push('…');
            break;
        }
        if hides(c) {
            excerpt.extend(c.escape_unicode());
        } else {
            excerpt.push(c);
        }
    }
    excerpt
}

#[cfg(test)]
mod tests;
