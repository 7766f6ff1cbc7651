//! The targets that an escape hatch may call: which methods, on which paths of an API.
//!
//! A request names its path in one of many spellings. It is brought into [one of them](canonical_path)
//! before it is held against any target, and what could be read in two ways is refused: the server
//! at the other end may read it in the other. Who sends an allowed request sends the canonical path,
//! encoded anew, and not the text that came.

use serde::{Deserialize, Serialize};

/// The longest path of a request, in bytes, its query included.
pub const MAX_PATH_BYTES: usize = 2048;

/// The longest method, in bytes.
pub const MAX_METHOD_BYTES: usize = 32;

/// One thing that may be requested.
///
/// In JSON and YAML: `{method: GET, path: /v1/items}`, or `below` instead of `path`, and `query: true`
/// where one may come.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct ApiTarget {
    /// The method, in upper case.
    pub method: String,
    /// The paths.
    pub path: ApiPath,
    /// Whether a request may have a query. It may then be any.
    pub query: bool,
}

/// The paths of a target, as [`canonical_path`] spells them. Letters have their case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApiPath {
    /// This path alone.
    Exact(String),
    /// This path, and all that go on after it with `/`.
    Below(String),
}

/// A target as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    method: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    below: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    query: bool,
}

impl TryFrom<Written> for ApiTarget {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let path = match (written.path, written.below) {
            (Some(path), None) => ApiPath::Exact(path),
            (None, Some(below)) => ApiPath::Below(below),
            (None, None) => return Err("a target needs `path`, or `below` for all under a path"),
            (Some(_), Some(_)) => {
                return Err("a target has `path` or `below`, not both; write two targets");
            }
        };
        Ok(Self {
            method: written.method.to_ascii_uppercase(),
            path,
            query: written.query,
        })
    }
}

impl From<ApiTarget> for Written {
    fn from(target: ApiTarget) -> Self {
        let (path, below) = match target.path {
            ApiPath::Exact(path) => (Some(path), None),
            ApiPath::Below(path) => (None, Some(path)),
        };
        Self {
            method: target.method,
            path,
            below,
            query: target.query,
        }
    }
}

impl ApiTarget {
    /// Whether any request can be allowed by it.
    ///
    /// # Errors
    /// All that stands against it, in words, each with how to mend it.
    pub fn check(&self) -> Result<(), String> {
        let mut faults = Vec::new();
        if !is_method(&self.method) {
            faults.push(format!(
                "the method {:?} is none; write one word such as `GET`",
                self.method
            ));
        }
        faults.extend(self.path.fault());
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults.join("; "))
        }
    }

    fn allows(&self, method: &str, path: &CanonicalPath) -> bool {
        self.method.eq_ignore_ascii_case(method)
            && (self.query || !path.has_query)
            && self.path.covers(&path.path)
            && self.check().is_ok()
    }
}

impl ApiPath {
    fn text(&self) -> &str {
        match self {
            Self::Exact(path) | Self::Below(path) => path,
        }
    }

    /// Why no request's canonical path is at or below it.
    fn fault(&self) -> Option<String> {
        let text = self.text();
        if text.len() > MAX_PATH_BYTES {
            return Some("the path has more than 2048 bytes, which no request may have".to_owned());
        }
        if !text.starts_with('/') {
            return Some(format!(
                "the path {text:?} does not begin with `/`; write it without scheme and host, such as `/v1/items`"
            ));
        }
        if text.contains('?') {
            return Some(format!(
                "the path {text:?} has a query; leave it out, and write `query: true` where any may come"
            ));
        }
        match canonical_path(text) {
            Some(canonical) if canonical.path == text => None,
            Some(canonical) => Some(format!(
                "the path {text:?} is not in the one spelling that requests are compared in; write {:?}",
                canonical.path
            )),
            None => Some(format!(
                "the path {text:?} is that of no request; write it decoded, without `//`, `..`, `#`, `%`, `\\` and control characters"
            )),
        }
    }

    fn covers(&self, path: &str) -> bool {
        match self {
            Self::Exact(own) => own == path,
            Self::Below(own) => path
                .strip_prefix(own.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || own.ends_with('/')),
        }
    }
}

/// A method is a token (RFC 9110, sections 9.1 and 5.6.2).
fn is_method(method: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    (1..=MAX_METHOD_BYTES).contains(&method.len()) && method.bytes().all(is_token)
}

/// A path of a request in its one spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CanonicalPath {
    /// The path, decoded, without dot segments and without its query.
    pub path: String,
    /// Whether a query follows it, even an empty one.
    pub has_query: bool,
}

/// The one spelling of a request's path: percent-encoding undone once, dot segments removed (RFC
/// 3986, sections 2.1 and 5.2.4, <https://www.rfc-editor.org/rfc/rfc3986>).
///
/// `None` for all that another reader could take for another path: what does not begin with one `/`,
/// such as a URL with its host; a fragment; a backslash or a control character; an encoded `/`, `\`,
/// `%`, `?` or `#`; an escape that is not well formed or not UTF-8; an empty segment; a dot segment
/// with spaces or parameters at its end (`..;a`, which some servers cut off); a path that leaves the
/// root; and more than [`MAX_PATH_BYTES`].
#[must_use]
pub fn canonical_path(text: &str) -> Option<CanonicalPath> {
    let is_refused = |c: char| c.is_control() || matches!(c, '\\' | '#');
    if text.len() > MAX_PATH_BYTES || text.contains(is_refused) {
        return None;
    }
    let (path, has_query) = match text.split_once('?') {
        Some((path, _)) => (path, true),
        None => (text, false),
    };
    let path = without_dot_segments(&decoded(path)?)?;
    Some(CanonicalPath { path, has_query })
}

/// The text with its percent-encoding undone, once.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let byte = u8::try_from(digit()? * 16 + digit()?).ok()?;
        if b"/\\%?#".contains(&byte) {
            return None;
        }
        bytes.push(byte);
    }
    let text = String::from_utf8(bytes).ok()?;
    (!text.contains(char::is_control)).then_some(text)
}

fn without_dot_segments(path: &str) -> Option<String> {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.strip_prefix('/')?.split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "" if !is_last => return None,
            ".." => drop(kept.pop()?),
            "." => {}
            segment if is_disguised(segment) => return None,
            segment => kept.push(segment),
        }
        // What remains of a dot segment at the end is a directory.
        if is_last && matches!(segment, "." | "..") {
            kept.push("");
        }
    }
    Some(format!("/{}", kept.join("/")))
}

/// Whether a segment is a dot segment to a server that cuts off parameters or spaces.
fn is_disguised(segment: &str) -> bool {
    let plain = segment.split(';').next().unwrap_or_default().trim();
    plain != segment && matches!(plain, "." | "..")
}

/// Whether any target allows a request: its method, without case, and its path, in any spelling.
///
/// A target that [`check`](ApiTarget::check) refuses allows nothing.
#[must_use]
pub fn allows<'a>(
    targets: impl IntoIterator<Item = &'a ApiTarget>,
    method: &str,
    path: &str,
) -> bool {
    let mut targets = targets.into_iter();
    canonical_path(path).is_some_and(|path| targets.any(|target| target.allows(method, &path)))
}

#[cfg(test)]
mod tests;
