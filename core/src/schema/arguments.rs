//! The check of arguments against a schema, and what a caller is told of arguments that do not fit.

use std::collections::BTreeSet;
use std::fmt;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError};
use serde_json::{Number, Value};

use super::SchemaFault;
use crate::json::MAX_INTEGER;

/// At most this many faults of one set of arguments are told, and names in one fault.
const MAX_TOLD: usize = 16;

/// One fault of a set of arguments: where, what was expected, what came. It holds no value of the
/// caller's; only names of fields that it sent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct ArgumentFault {
    /// JSON Pointer (RFC 6901) to the place, empty for the arguments as a whole.
    pub at: String,
    /// What was expected, and what came.
    pub problem: String,
}

/// A schema compiled once, at start.
pub struct CompiledSchema {
    schema: Value,
    validator: jsonschema::Validator,
}

impl fmt::Debug for CompiledSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CompiledSchema")
    }
}

impl CompiledSchema {
    /// Compiles a schema. Formats that JSON Schema defines, such as `date-time`, are checked.
    ///
    /// # Errors
    /// [`SchemaFault::Invalid`] when it is not a valid JSON Schema (2020-12).
    pub fn new(schema: &Value) -> Result<Self, SchemaFault> {
        let validator = jsonschema::draft202012::options()
            .should_validate_formats(true)
            .build(schema)
            .map_err(|error| SchemaFault::Invalid(error.to_string()))?;
        Ok(Self {
            schema: schema.clone(),
            validator,
        })
    }

    /// Checks arguments; all faults at once, bounded in number.
    ///
    /// # Errors
    /// The faults found, never empty, in the order of their places.
    pub fn check(&self, arguments: &Value) -> Result<(), Vec<ArgumentFault>> {
        if self.validator.is_valid(arguments) {
            return Ok(());
        }
        let mut found = BTreeSet::new();
        for error in self.validator.iter_errors(arguments).take(MAX_TOLD) {
            self.tell(&error, &mut found);
        }
        if found.is_empty() {
            // Fail closed should the two walks of the library ever disagree.
            found.insert(ArgumentFault {
                at: String::new(),
                problem: "does not fit the schema".to_owned(),
            });
        }
        Err(found.into_iter().take(MAX_TOLD).collect())
    }

    fn tell(&self, error: &ValidationError<'_>, found: &mut BTreeSet<ArgumentFault>) {
        let alternatives = match error.kind() {
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => context,
            _ => {
                found.insert(ArgumentFault {
                    at: error.instance_path().to_string(),
                    problem: self.problem(error),
                });
                return;
            }
        };
        match meant(error, alternatives) {
            Meant::One(faults) => faults.iter().for_each(|fault| self.tell(fault, found)),
            Meant::Named(at, names) => {
                let problem = format!("expected one of {}, found another value", list(&names));
                found.insert(ArgumentFault { at, problem });
            }
            Meant::Unknown => {
                let kinds: Vec<_> = alternatives
                    .iter()
                    .flatten()
                    .filter(|inner| inner.instance_path() == error.instance_path())
                    .filter_map(|inner| match inner.kind() {
                        Kind::Type { kind } => Some(kinds(kind)),
                        _ => None,
                    })
                    .collect();
                let problem = if kinds.len() == alternatives.len() {
                    let kinds: BTreeSet<_> = kinds.into_iter().collect();
                    let kinds: Vec<_> = kinds.into_iter().collect();
                    format!("expected {}, found {}", kinds.join(" or "), came(error))
                } else {
                    format!(
                        "fits none of its {} forms, found {}",
                        alternatives.len(),
                        came(error)
                    )
                };
                found.insert(ArgumentFault {
                    at: error.instance_path().to_string(),
                    problem,
                });
            }
        }
    }

    /// Words for an error, without the values that the caller sent.
    fn problem(&self, error: &ValidationError<'_>) -> String {
        match error.kind() {
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => self.unknown(error, unexpected),
            Kind::Required { property } => {
                format!(
                    "missing argument `{}`",
                    property.as_str().unwrap_or_default()
                )
            }
            Kind::Type { kind } => format!("expected {}, found {}", kinds(kind), came(error)),
            Kind::Enum { options } => {
                let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
                let names: BTreeSet<_> = options.iter().map(ToString::to_string).collect();
                format!(
                    "expected one of {}, found {}",
                    list(&names),
                    other(error, options)
                )
            }
            Kind::Constant { expected_value } => {
                let expected: &Value = expected_value;
                format!(
                    "expected {expected}, found {}",
                    other(error, std::slice::from_ref(expected))
                )
            }
            Kind::Minimum { limit } => format!("expected at least {limit}, found less"),
            Kind::Maximum { limit } => format!("expected at most {limit}, found more"),
            Kind::ExclusiveMinimum { limit } => {
                format!("expected more than {limit}, found no more")
            }
            Kind::ExclusiveMaximum { limit } => {
                format!("expected less than {limit}, found no less")
            }
            Kind::MultipleOf { multiple_of } => {
                format!("expected a multiple of {multiple_of}, found another number")
            }
            Kind::MinLength { limit } => format!(
                "expected at least {}, found fewer",
                count(*limit, "character")
            ),
            Kind::MaxLength { limit } => format!(
                "expected at most {}, found more",
                count(*limit, "character")
            ),
            Kind::MinItems { limit } => {
                format!("expected at least {}, found fewer", count(*limit, "item"))
            }
            Kind::MaxItems { limit } => {
                format!("expected at most {}, found more", count(*limit, "item"))
            }
            Kind::MinProperties { limit } => {
                format!("expected at least {}, found fewer", count(*limit, "entry"))
            }
            Kind::MaxProperties { limit } => {
                format!("expected at most {}, found more", count(*limit, "entry"))
            }
            Kind::UniqueItems => "expected items that differ, found two alike".to_owned(),
            Kind::Pattern { pattern } => {
                format!("expected text that matches `{pattern}`, found other text")
            }
            Kind::Format { format } => {
                format!("expected text of the format `{format}`, found other text")
            }
            Kind::Not { .. } | Kind::FalseSchema => "expected another value".to_owned(),
            Kind::PropertyNames { error } => {
                format!("a name does not fit: {}", self.problem(error))
            }
            _ => error.masked_with("the value").to_string(),
        }
    }

    fn unknown(&self, error: &ValidationError<'_>, unexpected: &[String]) -> String {
        // The names that the same schema knows stand beside the keyword that refused.
        let known: Vec<&String> = error
            .schema_path()
            .as_str()
            .rsplit_once('/')
            .and_then(|(parent, _)| self.schema.pointer(parent)?.get("properties")?.as_object())
            .map(|properties| properties.keys().collect())
            .unwrap_or_default();
        let names: Vec<_> = unexpected
            .iter()
            .take(MAX_TOLD)
            .map(|name| {
                let near = known
                    .iter()
                    .map(|known| (strsim::jaro_winkler(name, known), known))
                    .filter(|(likeness, _)| *likeness > 0.8)
                    .max_by(|a, b| a.0.total_cmp(&b.0));
                match near {
                    Some((_, near)) => format!("`{name}` (did you mean `{near}`?)"),
                    None => format!("`{name}`"),
                }
            })
            .collect();
        format!("unknown argument {}", names.join(", "))
    }
}

/// Which of several alternatives a caller seems to have meant.
enum Meant<'a> {
    One(&'a [ValidationError<'static>]),
    /// None: what names the alternative has none of these values.
    Named(String, BTreeSet<String>),
    Unknown,
}

fn meant<'a>(
    error: &ValidationError<'_>,
    alternatives: &'a [Vec<ValidationError<'static>>],
) -> Meant<'a> {
    let here = error.instance_path();
    // What names an alternative is a constant directly in the object.
    let tag = |inner: &ValidationError<'_>| match inner.kind() {
        Kind::Constant { expected_value } if inner.instance_path() != here => Some((
            inner.instance_path().to_string(),
            expected_value.to_string(),
        )),
        _ => None,
    };
    let is_of_another_kind = |faults: &[ValidationError<'_>]| {
        faults
            .iter()
            .any(|inner| inner.instance_path() == here && matches!(inner.kind(), Kind::Type { .. }))
    };
    let candidates: Vec<_> = alternatives
        .iter()
        .filter(|faults| {
            !is_of_another_kind(faults) && !faults.iter().any(|inner| tag(inner).is_some())
        })
        .collect();
    if candidates.is_empty() {
        let tags: BTreeSet<_> = alternatives.iter().flatten().filter_map(tag).collect();
        let places: BTreeSet<_> = tags.iter().map(|(at, _)| at.clone()).collect();
        let names = tags.into_iter().map(|(_, name)| name).collect();
        return match places.into_iter().collect::<Vec<_>>().as_slice() {
            [at] => Meant::Named(at.clone(), names),
            _ => Meant::Unknown,
        };
    }
    // Without a name in it, the one that has the right arguments, whatever is wrong inside of them.
    let wrong_here = |faults: &[ValidationError<'_>]| {
        faults
            .iter()
            .filter(|inner| inner.instance_path() == here)
            .count()
    };
    let fewest = candidates.iter().map(|faults| wrong_here(faults)).min();
    let mut nearest = candidates
        .into_iter()
        .filter(|faults| Some(wrong_here(faults)) == fewest);
    match (nearest.next(), nearest.next()) {
        (Some(one), None) => Meant::One(one),
        _ => Meant::Unknown,
    }
}

/// What came, by its kind alone.
fn came(error: &ValidationError<'_>) -> &'static str {
    match &**error.instance() {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(n) if n.is_f64() => "a number with a fraction",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// What came instead of some values: its kind, where that says enough.
fn other(error: &ValidationError<'_>, expected: &[Value]) -> &'static str {
    let found: &Value = error.instance();
    let alike = |value: &Value| std::mem::discriminant(value) == std::mem::discriminant(found);
    if expected.iter().any(alike) {
        "another value"
    } else {
        came(error)
    }
}

fn kinds(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => in_words(*kind).to_owned(),
        TypeKind::Multiple(kinds) => {
            let is_null = |kind: &JsonType| *kind == JsonType::Null;
            let (null, others): (Vec<_>, Vec<_>) = kinds.iter().partition(is_null);
            let all = others.into_iter().chain(null).map(in_words);
            all.collect::<Vec<_>>().join(" or ")
        }
    }
}

fn in_words(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Null => "null",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Number => "a number",
        JsonType::String => "a string",
        JsonType::Array => "a list",
        JsonType::Object => "an object",
    }
}

fn list(names: &BTreeSet<String>) -> String {
    let mut told: Vec<_> = names.iter().take(MAX_TOLD).cloned().collect();
    if names.len() > MAX_TOLD {
        told.push(format!("{} more", names.len() - MAX_TOLD));
    }
    told.join(", ")
}

fn count(number: u64, what: &str) -> String {
    match (number, what) {
        (1, what) => format!("1 {what}"),
        (number, "entry") => format!("{number} entries"),
        (number, what) => format!("{number} {what}s"),
    }
}

/// Writes whole numbers as integers: `5.0` and `5` are one number to JSON Schema and to RFC 8785,
/// and so to the digest that an approval is bound to; serde would take only one of them for an
/// integer.
pub(crate) fn without_fractions(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let whole = number
                .as_f64()
                .filter(|float| number.is_f64() && float.fract() == 0.0);
            #[allow(clippy::cast_precision_loss, reason = "2^53 is a float")]
            if let Some(float) = whole.filter(|float| float.abs() <= MAX_INTEGER as f64) {
                #[allow(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
                let integer = float as i64;
                *number = Number::from(integer);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(without_fractions),
        Value::Object(entries) => entries.values_mut().for_each(without_fractions),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}
