//! Addresses at which what an action reads can be read: `resource = "note:{name}"` on the annotation.
//!
//! Reading at an address is a call of the action, with what stands for the variables as its arguments. So an address gives
//! nothing that a grant does not: it is one more way to say a call.
//!
//! Format: the level 1 templates of RFC 6570, with at least one character between two variables.

use std::fmt;

use serde_json::{Map, Value};

/// The longest template and the longest address that is looked at, in bytes.
const MAX_BYTES: usize = 2_048;
/// The scheme of what is the kernel's own to tell.
const OWN_SCHEME: &str = "actum:";

/// An address, or the form of many.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UriTemplate {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Literal(String),
    Variable(String),
}

/// Why a text is no template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is no address such as `note:today` or `note:{{name}}`: {0}")]
pub struct NotATemplate(&'static str);

impl UriTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// [`NotATemplate`], with what is wrong.
    pub fn parse(text: &str) -> Result<Self, NotATemplate> {
        let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_lowercase())
            && scheme
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "+.-".contains(c));
        if !is_scheme {
            return Err(NotATemplate(
                "it begins with a scheme in lower case and `:`",
            ));
        }
        if text.starts_with(OWN_SCHEME) {
            return Err(NotATemplate(
                "`actum:` is the kernel's own; use another scheme",
            ));
        }
        if text.len() > MAX_BYTES {
            return Err(NotATemplate("it is too long"));
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (literal, after) = rest.split_once('{').unwrap_or((rest, ""));
            let is_plain = |c: char| c.is_ascii_graphic() && !"{}<>\"\\^`|%".contains(c);
            if !literal.chars().all(is_plain) {
                return Err(NotATemplate(
                    "between variables it has characters of addresses alone, and none behind a `%`",
                ));
            }
            match (literal.is_empty(), parts.last()) {
                (true, Some(Part::Variable(_))) => {
                    return Err(NotATemplate("something stands between two variables"));
                }
                (true, _) => {}
                (false, _) => parts.push(Part::Literal(literal.to_owned())),
            }
            if literal.len() == rest.len() {
                break;
            }
            let (name, after) = after
                .split_once('}')
                .ok_or(NotATemplate("a `{` has no `}`"))?;
            let is_name =
                !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !is_name {
                return Err(NotATemplate("a variable is a name in braces"));
            }
            if parts
                .iter()
                .any(|part| matches!(part, Part::Variable(other) if other == name))
            {
                return Err(NotATemplate("a variable stands once"));
            }
            parts.push(Part::Variable(name.to_owned()));
            rest = after;
        }
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }

    /// The template as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of its variables, in order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Variable(name) => Some(name.as_str()),
            Part::Literal(_) => None,
        })
    }

    /// Whether it is one address, and not the form of many.
    #[must_use]
    pub fn is_one(&self) -> bool {
        self.variables().next().is_none()
    }

    /// What stands for the variables in an address; `None` for one of another form. A variable stands for at least one
    /// character and no `/`, and ends where what follows it first comes. What is behind a `%` counts as what it means.
    #[must_use]
    pub fn arguments(&self, uri: &str) -> Option<Map<String, Value>> {
        if uri.len() > MAX_BYTES {
            return None;
        }
        let mut found = Map::new();
        let mut rest = uri;
        let mut parts = self.parts.iter().peekable();
        while let Some(part) = parts.next() {
            match part {
                Part::Literal(literal) => rest = rest.strip_prefix(literal.as_str())?,
                Part::Variable(name) => {
                    let end = match parts.peek() {
                        Some(Part::Literal(next)) => rest.find(next.as_str())?,
                        _ => rest.len(),
                    };
                    let (value, after) = rest.split_at_checked(end)?;
                    let value = (!value.is_empty() && !value.contains('/')).then_some(value)?;
                    found.insert(name.clone(), Value::String(decoded(value)?));
                    rest = after;
                }
            }
        }
        rest.is_empty().then_some(found)
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A text without percent encoding; `None` where it is none.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        bytes.push(match byte {
            b'%' => u8::try_from(digit(rest.next())? * 16 + digit(rest.next())?).ok()?,
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn found(template: &str, uri: &str) -> Option<Value> {
        let template = UriTemplate::parse(template).unwrap();
        template.arguments(uri).map(Value::Object)
    }

    #[test]
    fn an_address_has_what_stands_for_the_variables() {
        for (template, uri, wanted) in [
            ("note:today", "note:today", Some(json!({}))),
            ("note:today", "note:today/", None),
            ("note:{name}", "note:today", Some(json!({"name": "today"}))),
            ("note:{name}", "note:a%20b", Some(json!({"name": "a b"}))),
            ("note:{name}", "note:a%2Fb", Some(json!({"name": "a/b"}))),
            ("note:{name}", "note:", None),
            ("note:{name}", "note:a/b", None),
            ("note:{name}", "note:a%2", None),
            ("note:{name}", "note:%ff", None),
            ("note:{name}", "NOTE:a", None),
            (
                "x://{a}/{b}.txt",
                "x://1/2.txt",
                Some(json!({"a": "1", "b": "2"})),
            ),
            ("x://{a}/{b}.txt", "x://1/2.txt.txt", None),
            ("x://{a}/{b}.txt", "x://1/2/3.txt", None),
        ] {
            assert_eq!(found(template, uri), wanted, "{template} {uri}");
        }
    }

    #[test]
    fn what_is_no_template_is_told_with_its_reason() {
        for (text, wanted) in [
            ("", "scheme"),
            ("note", "scheme"),
            ("Note:a", "scheme"),
            ("{scheme}:a", "scheme"),
            ("actum://calls/1", "the kernel's own"),
            ("note:a b", "characters of addresses"),
            ("note:a%20b", "characters of addresses"),
            ("note:a}", "characters of addresses"),
            ("note:{a}{b}", "between two variables"),
            ("note:{a", "has no `}`"),
            ("note:{}", "a name in braces"),
            ("note:{+a}", "a name in braces"),
            ("note:{a}/{a}", "stands once"),
        ] {
            let told = UriTemplate::parse(text).unwrap_err().to_string();
            assert!(told.contains(wanted), "{text}: {told}");
        }
    }

    proptest! {
        #[test]
        fn every_text_can_stand_for_a_variable_and_comes_back(a in "\\PC{1,20}", b in "\\PC{1,20}") {
            let template = UriTemplate::parse("x://{a}/to/{b}").unwrap();
            let encoded = |text: &str| -> String {
                text.bytes().map(|byte| format!("%{byte:02X}")).collect()
            };
            let uri = format!("x://{}/to/{}", encoded(&a), encoded(&b));
            let wanted = json!({"a": a, "b": b});
            prop_assert_eq!(template.arguments(&uri).map(Value::Object), Some(wanted));
        }

        #[test]
        fn no_address_is_taken_for_one_of_another_form(uri in "x:[a-z/%0-9]{0,12}") {
            let template = UriTemplate::parse("x:{a}/b").unwrap();
            if let Some(found) = template.arguments(&uri) {
                let a = found["a"].as_str().unwrap();
                prop_assert!(uri.starts_with("x:") && uri.ends_with("/b"));
                prop_assert!(!a.is_empty());
            }
        }
    }
}
