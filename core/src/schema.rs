//! Parameter schemas: one normal form, and the compiled check of arguments against it.
//!
//! The schema comes from the payload type itself, through schemars, for the direction in which the
//! kernel uses it (deserializing). [`normal_form`] then makes of it what a model and a provider can
//! take: an object, closed where the type names its fields, without the noise of generators.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The largest schema, in bytes of JSON, that an action may have.
pub const MAX_SCHEMA_BYTES: usize = 64 * 1024;

/// At most this many faults of one set of arguments are told.
const MAX_FAULTS: usize = 16;

/// Why a type cannot be an action's payload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaFault {
    /// The payload is not an object.
    #[error(
        "its payload is {found}, but arguments are an object; put the value into a field of a struct"
    )]
    NotAnObject {
        /// What the payload's schema says it is.
        found: String,
    },
    /// The schema is larger than [`MAX_SCHEMA_BYTES`].
    #[error("its schema takes {bytes} bytes, at most 65536 are allowed; make the payload smaller")]
    TooLarge {
        /// The size found.
        bytes: usize,
    },
    /// The schema does not compile.
    #[error("its schema is not a valid JSON Schema: {0}")]
    Invalid(String),
}

/// The schema of arguments of type `T`, in normal form.
///
/// # Errors
/// [`SchemaFault`] when no object of arguments can be described by `T`.
pub fn arguments_of<T: JsonSchema + ?Sized>() -> Result<Value, SchemaFault> {
    let raw = SchemaSettings::draft2020_12()
        .for_deserialize()
        .into_generator();
    normal_form(raw.into_root_schema_for::<T>().to_value())
}

/// The schema of an action's result of type `T`; `None` where there is nothing to describe.
#[must_use]
pub fn result_of<T: JsonSchema + ?Sized>() -> Option<Value> {
    let raw = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    let mut schema = raw.into_root_schema_for::<T>().to_value();
    if let Some(root) = schema.as_object_mut() {
        root.remove("$schema");
        root.remove("title");
        if root.get("type") == Some(&json!("null")) {
            return None;
        }
    }
    tidy(&mut schema, Closing::Never);
    schema.as_object().filter(|root| !root.is_empty())?;
    Some(schema)
}

/// The schema of an action without arguments.
#[must_use]
pub fn no_arguments() -> Value {
    json!({"type": "object", "properties": {}, "additionalProperties": false})
}

/// Brings a root schema into normal form.
///
/// # Errors
/// [`SchemaFault`] when the root is not an object schema, or is too large.
pub fn normal_form(mut schema: Value) -> Result<Value, SchemaFault> {
    let Some(root) = schema.as_object_mut() else {
        return Err(SchemaFault::NotAnObject {
            found: "anything at all".to_owned(),
        });
    };
    root.remove("$schema");
    root.remove("title");
    match root.get("type") {
        Some(Value::String(kind)) if kind == "object" => {}
        Some(Value::String(kind)) if kind == "null" => return Ok(no_arguments()),
        Some(kind) => {
            return Err(SchemaFault::NotAnObject {
                found: format!("of type {kind}"),
            });
        }
        None => {
            return Err(SchemaFault::NotAnObject {
                found: "not always an object".to_owned(),
            });
        }
    }
    if !root.contains_key("properties") {
        root.insert("properties".to_owned(), Value::Object(Map::new()));
    }
    tidy(&mut schema, Closing::Here);
    let bytes = schema.to_string().len();
    if bytes > MAX_SCHEMA_BYTES {
        return Err(SchemaFault::TooLarge { bytes });
    }
    Ok(schema)
}

/// Whether an object schema with named properties refuses all others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Closing {
    /// It does.
    Here,
    /// It is one part of a composition whose other parts name further properties.
    NotHere,
    /// The schema describes a result, which may grow.
    Never,
}

const COMBINATORS: [&str; 5] = ["allOf", "anyOf", "oneOf", "not", "$ref"];

/// Walks every place of a schema where a schema stands.
fn tidy(schema: &mut Value, closing: Closing) {
    if matches!(schema, Value::Bool(true)) {
        // A boolean schema is legal JSON Schema and refused by most providers.
        *schema = Value::Object(Map::new());
        return;
    }
    let Some(object) = schema.as_object_mut() else {
        return;
    };

    if object
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(is_rust_number_format)
    {
        object.remove("format");
    }
    let composed = COMBINATORS.iter().any(|key| object.contains_key(*key));
    if closing == Closing::Here
        && !composed
        && object.contains_key("properties")
        && !object.contains_key("additionalProperties")
        && !object.contains_key("unevaluatedProperties")
    {
        object.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    let deeper = if closing == Closing::Never {
        Closing::Never
    } else {
        Closing::Here
    };
    let parts = match (closing, composed && object.contains_key("properties")) {
        (Closing::Never, _) => Closing::Never,
        (_, true) => Closing::NotHere,
        (_, false) => closing,
    };
    for (key, value) in object.iter_mut() {
        match (key.as_str(), value) {
            (
                "properties" | "$defs" | "patternProperties" | "dependentSchemas",
                Value::Object(map),
            ) => {
                map.values_mut().for_each(|inner| tidy(inner, deeper));
            }
            ("items" | "contains" | "propertyNames" | "not" | "if" | "then" | "else", inner) => {
                tidy(inner, deeper);
            }
            ("additionalProperties" | "unevaluatedProperties", inner) if inner.is_object() => {
                tidy(inner, deeper);
            }
            ("prefixItems", Value::Array(list)) => {
                list.iter_mut().for_each(|inner| tidy(inner, deeper));
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => {
                list.iter_mut().for_each(|inner| tidy(inner, parts));
            }
            _ => {}
        }
    }
}

/// Formats that schemars writes for Rust's numbers and that no JSON Schema vocabulary has.
fn is_rust_number_format(format: &str) -> bool {
    let digits = format.trim_start_matches("uint").trim_start_matches("int");
    matches!(format, "float" | "double")
        || (format != digits && (digits.is_empty() || digits.bytes().all(|b| b.is_ascii_digit())))
}

/// One fault of a set of arguments: where, what was expected, what came. It holds no value of the
/// caller's; only names of fields that it sent.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ArgumentFault {
    /// JSON Pointer (RFC 6901) to the place, empty for the arguments as a whole.
    pub at: String,
    /// What was expected, and what came.
    pub problem: String,
}

/// A schema compiled once, at start.
pub struct CompiledSchema {
    validator: jsonschema::Validator,
}

impl std::fmt::Debug for CompiledSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CompiledSchema")
    }
}

impl CompiledSchema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// [`SchemaFault::Invalid`] when it is not a valid JSON Schema (2020-12).
    pub fn new(schema: &Value) -> Result<Self, SchemaFault> {
        jsonschema::draft202012::options()
            .build(schema)
            .map(|validator| Self { validator })
            .map_err(|error| SchemaFault::Invalid(error.to_string()))
    }

    /// Checks arguments; all faults at once, bounded in number.
    ///
    /// # Errors
    /// The faults found, never empty.
    pub fn check(&self, arguments: &Value) -> Result<(), Vec<ArgumentFault>> {
        if self.validator.is_valid(arguments) {
            return Ok(());
        }
        let faults: Vec<_> = self
            .validator
            .iter_errors(arguments)
            .take(MAX_FAULTS)
            .map(|error| ArgumentFault {
                at: error.instance_path().to_string(),
                problem: problem(&error),
            })
            .collect();
        if faults.is_empty() {
            // Fail closed should the two walks of the library ever disagree.
            return Err(vec![ArgumentFault {
                at: String::new(),
                problem: "does not fit the schema".to_owned(),
            }]);
        }
        Err(faults)
    }
}

/// Words for an error, without the values that the caller sent.
fn problem(error: &jsonschema::ValidationError<'_>) -> String {
    use jsonschema::error::ValidationErrorKind as Kind;
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let names: Vec<_> = unexpected
                .iter()
                .take(MAX_FAULTS)
                .map(|n| format!("`{n}`"))
                .collect();
            format!("unknown argument {}", names.join(", "))
        }
        Kind::Required { property } => {
            format!(
                "missing argument `{}`",
                property.as_str().unwrap_or_default()
            )
        }
        Kind::Type { .. } => {
            let found = match &**error.instance() {
                Value::Null => "null",
                Value::Bool(_) => "a boolean",
                Value::Number(n) if n.is_f64() => "a number",
                Value::Number(_) => "an integer",
                Value::String(_) => "a string",
                Value::Array(_) => "an array",
                Value::Object(_) => "an object",
            };
            format!("{}, found {found}", error.masked_with("the value"))
        }
        _ => error.masked_with("the value").to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Inner {
        name: String,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Payload {
        /// How many.
        #[schemars(range(min = 1, max = 50))]
        count: u8,
        any: Value,
        list: Vec<Inner>,
        maybe: Option<String>,
    }

    #[test]
    fn the_normal_form_is_a_closed_object_without_noise() {
        let schema = arguments_of::<Payload>().unwrap();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(
            schema["properties"]["count"],
            json!({
                "type": "integer", "minimum": 1, "maximum": 50, "description": "How many."
            })
        );
        assert_eq!(schema["properties"]["any"], json!({}));
        assert_eq!(schema["$defs"]["Inner"]["additionalProperties"], false);
        assert!(schema.get("$schema").is_none() && schema.get("title").is_none());
    }

    #[test]
    fn what_is_not_an_object_is_refused_in_words() {
        assert!(matches!(
            arguments_of::<String>(),
            Err(SchemaFault::NotAnObject { .. })
        ));
        assert!(matches!(
            arguments_of::<Vec<u8>>(),
            Err(SchemaFault::NotAnObject { .. })
        ));
        assert!(matches!(
            arguments_of::<Value>(),
            Err(SchemaFault::NotAnObject { .. })
        ));
        assert_eq!(arguments_of::<()>(), Ok(no_arguments()));
    }

    #[test]
    fn all_argument_faults_are_told_at_once_without_values() {
        let check = CompiledSchema::new(&arguments_of::<Payload>().unwrap()).unwrap();
        assert_eq!(
            check.check(&json!({"count": 3, "any": 1, "list": []})),
            Ok(())
        );
        let faults = check
            .check(&json!({"count": "s3cret", "list": [{"name": 7}], "colour": "s3cret"}))
            .unwrap_err();
        let told = serde_json::to_string(&faults).unwrap();
        assert!(!told.contains("s3cret"), "{told}");
        for part in [
            "/count",
            "/list/0/name",
            "unknown argument `colour`",
            "missing argument `any`",
        ] {
            assert!(told.contains(part), "{part} in {told}");
        }
    }

    #[test]
    fn a_result_schema_stays_open_and_nothing_gives_none() {
        assert_eq!(result_of::<()>(), None);
        assert!(
            result_of::<Inner>()
                .unwrap()
                .get("additionalProperties")
                .is_none()
        );
    }
}
