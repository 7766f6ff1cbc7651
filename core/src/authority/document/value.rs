//! How single values are read: text, numbers, lists, closed sets of names.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

use serde_json::{Map, Number, Value};
use ulid::Ulid;

use super::at::nearest;
use super::{At, Kind, Node, Position, excerpt};

/// A value that can be read from a document.
///
/// [`record!`](super::record) and [`choice!`](super::choice) write this for structs and enums.
pub trait Decode: Sized {
    /// What to call such a value in a fault: "text", "a whole number", "one of a, b".
    fn expected() -> String;

    /// What to call several of them: "texts", "action ids".
    #[must_use]
    fn expected_many() -> String {
        "values".to_owned()
    }

    /// Reads the value. A fault is noted at `at`, and `None` returned.
    ///
    /// INVARIANT: `None` is returned only after a fault was noted.
    fn decode(at: &At<'_>) -> Option<Self>;
}

impl Decode for String {
    fn expected() -> String {
        "text".to_owned()
    }

    fn expected_many() -> String {
        "texts".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        match &at.node().kind {
            Kind::Str(text) => Some(text.clone()),
            Kind::Bool(_) | Kind::Int(_) | Kind::Float(_) => {
                let found = at.node().describe();
                at.fault(format!("expected text, found {found}"), "put it in quotes");
                None
            }
            _ => {
                at.mismatch("text");
                None
            }
        }
    }
}

impl Decode for bool {
    fn expected() -> String {
        "true or false".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        match at.node().kind {
            Kind::Bool(flag) => Some(flag),
            _ => {
                at.mismatch("true or false");
                None
            }
        }
    }
}

macro_rules! whole_numbers {
    ($($int:ty),*) => {$(
        impl Decode for $int {
            fn expected() -> String {
                format!("a whole number from {} to {}", Self::MIN, Self::MAX)
            }

            fn expected_many() -> String {
                "whole numbers".to_owned()
            }

            fn decode(at: &At<'_>) -> Option<Self> {
                let read = match at.node().kind {
                    Kind::Int(int) => Self::try_from(int).ok(),
                    _ => None,
                };
                if read.is_none() {
                    let found = match at.node().kind {
                        Kind::Int(int) => int.to_string(),
                        _ => at.node().describe().to_owned(),
                    };
                    at.fault(format!("expected {}, found {found}", Self::expected()), "");
                }
                read
            }
        }
    )*};
}

whole_numbers!(u8, u16, u32, u64, usize, i64);

/// A finite number: an infinite bound or one that is no number would compare as no bound at all.
impl Decode for f64 {
    fn expected() -> String {
        "a number".to_owned()
    }

    fn expected_many() -> String {
        "numbers".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        match at.node().kind {
            #[expect(
                clippy::cast_precision_loss,
                reason = "a number is asked for, not a count"
            )]
            Kind::Int(int) => Some(int as f64),
            Kind::Float(number) if number.is_finite() => Some(number),
            Kind::Float(_) => {
                at.fault("expected a finite number", "");
                None
            }
            _ => {
                at.mismatch("a number");
                None
            }
        }
    }
}

impl Decode for Ulid {
    fn expected() -> String {
        "a ULID (26 characters)".to_owned()
    }

    fn expected_many() -> String {
        "ULIDs".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        let text = String::decode(at)?;
        let read = Self::from_string(&text).ok();
        if read.is_none() {
            at.fault(
                "this is no ULID",
                "a ULID has 26 characters of Crockford's base 32",
            );
        }
        read
    }
}

/// Null and absence are both `None`.
impl<T: Decode> Decode for Option<T> {
    fn expected() -> String {
        T::expected()
    }

    fn expected_many() -> String {
        T::expected_many()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        match at.node().kind {
            Kind::Null => Some(None),
            _ => T::decode(at).map(Some),
        }
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn expected() -> String {
        format!("a list of {}", T::expected_many())
    }

    fn expected_many() -> String {
        "lists".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        at.list(&T::expected_many())
    }
}

impl<T: Decode> Decode for BTreeMap<String, T> {
    fn expected() -> String {
        "a map".to_owned()
    }

    fn expected_many() -> String {
        "maps".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        Some(at.entries()?.into_iter().collect())
    }
}

/// Any value, as it stands.
impl Decode for Node {
    fn expected() -> String {
        "any value".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        Some(at.node().clone())
    }
}

/// Any value that JSON has.
impl Decode for Value {
    fn expected() -> String {
        "any value".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        let value = json(at.node());
        if value.is_none() {
            at.fault(
                "a number in it is none that JSON has",
                "write it with fewer digits, or as text",
            );
        }
        value
    }
}

fn json(node: &Node) -> Option<Value> {
    Some(match &node.kind {
        Kind::Null => Value::Null,
        Kind::Bool(flag) => Value::Bool(*flag),
        Kind::Int(int) => Value::Number(match (i64::try_from(*int), u64::try_from(*int)) {
            (Ok(int), _) => int.into(),
            (_, Ok(int)) => int.into(),
            (Err(_), Err(_)) => return None,
        }),
        Kind::Float(float) => Value::Number(Number::from_f64(*float)?),
        Kind::Str(text) => Value::String(text.clone()),
        Kind::Seq(items) => Value::Array(items.iter().map(json).collect::<Option<_>>()?),
        Kind::Map(entries) => {
            let fields = entries
                .iter()
                .map(|entry| Some((entry.key.clone(), json(&entry.value)?)));
            Value::Object(fields.collect::<Option<Map<_, _>>>()?)
        }
        // Its fault is told already.
        Kind::Unreadable => return None,
    })
}

/// A value and where it stands, for faults that show only later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it begins; `None` if it came from no text.
    pub position: Option<Position>,
}

impl<T: Decode> Decode for Located<T> {
    fn expected() -> String {
        T::expected()
    }

    fn expected_many() -> String {
        T::expected_many()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        T::decode(at).map(|value| Self {
            value,
            position: at.position(),
        })
    }
}

impl<T> Deref for Located<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Display> fmt::Display for Located<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// A closed set of names; [`choice!`](super::choice) writes it.
pub trait Choice: Copy + Eq + 'static {
    /// Every value with its name, in the order declared.
    const ALL: &'static [(&'static str, Self)];

    /// The value of a name; names match exactly.
    #[must_use]
    fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| *value)
    }

    /// The name of the value.
    #[must_use]
    fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, value)| *value == self)
            .map_or("", |(name, _)| name)
    }

    /// The names, as they are listed in a fault.
    #[must_use]
    fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|(name, _)| *name).collect()
    }

    /// Reads a value; the body of its `Decode`.
    fn decode_choice(at: &At<'_>) -> Option<Self> {
        let names = Self::names();
        let Kind::Str(text) = &at.node().kind else {
            at.mismatch(&format!("one of {}", names.join(", ")));
            return None;
        };
        let read = Self::from_name(text);
        if read.is_none() {
            let remedy = match nearest(text, &names) {
                Some(name) => format!("did you mean `{name}`? Allowed: {}", names.join(", ")),
                None => format!("allowed: {}", names.join(", ")),
            };
            at.fault(format!("`{}` is not allowed here", excerpt(text)), remedy);
        }
        read
    }
}
