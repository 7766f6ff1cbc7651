//! Bound arguments: what a grant fixes of the calls that it allows.
//!
//! A bound names one action and one place in its arguments, and says what may stand there. The
//! [gate](crate::gate) holds every call against it, exactly; the [view](mod@crate::project) shows the
//! tool with the bound in its schema, so that a model is not told of what it cannot do. INVARIANT:
//! bounds only take away: several at one place all hold, and one that cannot be judged lets nothing
//! pass.

mod narrow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::descriptor::ToolDescriptor;
use crate::id::ActionId;
use crate::schema::walk::escaped;

pub(crate) use narrow::narrowed;

/// In calls of one action, what an argument may be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundArgument {
    /// The action.
    pub action: ActionId,
    /// JSON Pointer (RFC 6901) to the argument, such as `/recipient`; empty for the arguments as a
    /// whole.
    pub at: String,
    /// What may stand there.
    pub to: Bound,
    /// Whether it may be left out. Where no value is allowed, it has to be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_be_absent: bool,
}

/// What an argument may be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// One of these values. Numbers are compared as numbers: `5` and `5.0` are one.
    OneOf(Vec<Value>),
    /// This text, or one that goes on after it with `/` and whole segments, none of which is empty,
    /// `.` or `..` in any spelling.
    Within(String),
}

impl BoundArgument {
    /// In calls of an action, the argument of this name is one of these values, and is not left out.
    #[must_use]
    pub fn one_of(action: ActionId, argument: &str, values: Vec<Value>) -> Self {
        Self {
            action,
            at: format!("/{}", escaped(argument)),
            to: Bound::OneOf(values),
            may_be_absent: false,
        }
    }

    /// Whether any call of the tool could keep the bound: it takes the argument, and some value that is
    /// allowed there.
    #[must_use]
    pub fn can_be_kept(&self, tool: &ToolDescriptor) -> bool {
        narrowed(tool, [self]).is_some()
    }

    /// Whether a call's arguments keep the bound.
    #[must_use]
    pub fn holds(&self, arguments: &Map<String, Value>) -> bool {
        let Some(steps) = steps(&self.at) else {
            return false;
        };
        let Some((first, rest)) = steps.split_first() else {
            return self.to.takes_all(arguments);
        };
        let found = arguments.get(first).and_then(|value| {
            rest.iter().try_fold(value, |value, step| match value {
                Value::Object(entries) => entries.get(step),
                Value::Array(items) => items.get(index(step)?),
                _ => None,
            })
        });
        match found {
            Some(value) => self.to.takes(value),
            None => self.may_be_absent,
        }
    }
}

impl Bound {
    /// Whether a value may stand there.
    pub(crate) fn takes(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::OneOf(values), value) => values.iter().any(|one| same(one, value)),
            (Self::Within(start), Value::String(text)) => is_within(start, text),
            (Self::Within(_), _) => false,
        }
    }

    fn takes_all(&self, arguments: &Map<String, Value>) -> bool {
        let one = |value: &Value| {
            value
                .as_object()
                .is_some_and(|one| same_entries(one, arguments))
        };
        matches!(self, Self::OneOf(values) if values.iter().any(one))
    }
}

/// The segments of a JSON Pointer; `None` for text that is none.
fn steps(at: &str) -> Option<Vec<String>> {
    let Some(rest) = at.strip_prefix('/') else {
        return at.is_empty().then(Vec::new);
    };
    let step = |step: &str| {
        let plain = step.replace("~1", "/").replace("~0", "~");
        (escaped(&plain) == step).then_some(plain)
    };
    rest.split('/').map(step).collect()
}

/// Whether a text is a JSON Pointer (RFC 6901).
pub(crate) fn is_pointer(at: &str) -> bool {
    steps(at).is_some()
}

fn index(step: &str) -> Option<usize> {
    // RFC 6901 has one spelling for each.
    step.parse()
        .ok()
        .filter(|index: &usize| index.to_string() == step)
}

/// Whether two values have one canonical form.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => same_entries(one, other),
        (one, other) => one == other,
    }
}

fn same_entries(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .all(|(name, value)| other.get(name).is_some_and(|other| same(value, other)))
}

fn is_within(start: &str, text: &str) -> bool {
    let Some(rest) = text.strip_prefix(start) else {
        return false;
    };
    if rest.is_empty() {
        return true;
    }
    let rest = if start.ends_with('/') {
        Some(rest)
    } else {
        rest.strip_prefix('/')
    };
    rest.is_some_and(|rest| {
        rest.split('/').all(|segment| {
            // A dot, a slash or a backslash that another reader would find behind an escape.
            let lower = segment.to_ascii_lowercase();
            let hidden = ["\\", "%2e", "%2f", "%5c", "%25", "%00"];
            let is_hidden = hidden.iter().any(|escape| lower.contains(escape));
            !segment.is_empty()
                && segment != "."
                && segment != ".."
                && !is_hidden
                && !segment.chars().any(char::is_control)
        })
    })
}
