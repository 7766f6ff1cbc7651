//! A published rule, and a fault against it.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

/// One rule of a provider, as published.
///
/// Where a provider publishes a rule in its error messages alone, the source is a public report of
/// that message. Rules with an id that begins with `actum.` are bounds of Actum's own.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// A stable name, unique within a provider.
    pub id: &'static str,
    /// What it asks for.
    pub says: &'static str,
    /// Where it is published: the document's name and its address.
    pub source: &'static str,
}

/// One place where a tool breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleFault {
    /// The [`Rule`]'s id.
    pub rule: &'static str,
    /// JSON Pointer (RFC 6901) to the place, empty for the whole.
    pub at: String,
    /// What is wrong, and how to mend it.
    pub problem: String,
    /// Where the rule is published.
    pub source: &'static str,
}

impl RuleFault {
    /// At most this many faults are told at once.
    pub const MOST: usize = 16;
}

impl fmt::Display for RuleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.at.is_empty() { "/" } else { &self.at };
        write!(f, "{at}: {} ({}; {})", self.problem, self.rule, self.source)
    }
}

/// The faults found so far, bounded in number.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<RuleFault>);

impl Faults {
    pub(super) fn add(
        &mut self,
        rule: &'static Rule,
        at: impl Into<String>,
        problem: impl Into<String>,
    ) {
        if self.0.len() < RuleFault::MOST {
            self.0.push(RuleFault {
                rule: rule.id,
                at: at.into(),
                problem: problem.into(),
                source: rule.source,
            });
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Faults> for Vec<RuleFault> {
    fn from(faults: Faults) -> Self {
        faults.0
    }
}

/// The fields of an object that a tool has by its shape: those it must have, and those it may have.
/// `None`, with a fault, where it is no object.
pub(super) fn fields<'a>(
    value: &'a Value,
    at: &str,
    must: &[&str],
    may: &[&str],
    rule: &'static Rule,
    faults: &mut Faults,
) -> Option<&'a Map<String, Value>> {
    let Some(object) = value.as_object() else {
        faults.add(rule, at, "it must be an object");
        return None;
    };
    for field in must {
        if !object.contains_key(*field) {
            faults.add(rule, at, format!("the field `{field}` is missing"));
        }
    }
    for field in object.keys() {
        if !must.contains(&field.as_str()) && !may.contains(&field.as_str()) {
            let problem = format!("the field `{field}` is not one of this shape; leave it out");
            faults.add(
                rule,
                format!("{at}/{}", super::place::escaped(field)),
                problem,
            );
        }
    }
    Some(object)
}

/// Whether a name has 1 to `most` characters, all ASCII letters, digits or one of `also`.
pub(super) fn is_name(name: &str, also: &str, most: usize) -> bool {
    (1..=most).contains(&name.len())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || also.contains(c))
}

/// Asks for the name of a tool to be a [name](is_name).
pub(super) fn check_name(
    name: Option<&Value>,
    at: &str,
    (also, most): (&str, usize),
    rule: &'static Rule,
    faults: &mut Faults,
) {
    match name {
        Some(Value::String(name)) if is_name(name, also, most) => {}
        // A missing name is a fault of the shape.
        None => {}
        Some(Value::String(name)) => {
            let problem = format!(
                "`{name}` ({} bytes) is not a name of 1 to {most} ASCII letters, digits and `{also}`; rename the action",
                name.len()
            );
            faults.add(rule, at, problem);
        }
        Some(_) => faults.add(rule, at, "a name is a string"),
    }
}
