//! Schemas of arguments and results: one normal form, and the check of arguments against it.
//!
//! A schema comes from the type itself, through schemars, for the direction in which the kernel
//! uses it. The [normal form](normal_form) then makes of it what a model and every provider can take:
//! an object, closed where the type names its fields, without the noise of generators.

mod arguments;
mod definitions;
mod normal;
pub(crate) mod walk;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

pub(crate) use arguments::without_fractions;
pub use arguments::{ArgumentFault, CompiledSchema};
pub use normal::{normal_form, result_form};

/// The largest schema, in bytes of JSON, that an action may have.
pub const MAX_SCHEMA_BYTES: usize = 64 * 1024;

/// The deepest nesting of a schema.
pub const MAX_SCHEMA_DEPTH: usize = 64;

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
    /// Some forms of the payload are no objects.
    #[error(
        "its payload is not always an object: {found}; give each variant fields, or name the variants in a field with `#[serde(tag = \"...\")]`"
    )]
    NotAlwaysAnObject {
        /// What the other forms are.
        found: String,
    },
    /// The schema is larger than [`MAX_SCHEMA_BYTES`].
    #[error("its schema takes {bytes} bytes, at most 65536 are allowed; make the payload smaller")]
    TooLarge {
        /// The size found.
        bytes: usize,
    },
    /// The schema is nested deeper than [`MAX_SCHEMA_DEPTH`].
    #[error("its schema is nested deeper than 64 levels; make the payload flatter")]
    TooDeep,
    /// Parts of one object say different things of one property.
    #[error(
        "its payload joins objects that say different things of one property; rename one of the fields, or put the inner type into a field of its own"
    )]
    Entangled,
    /// The schema does not compile.
    #[error("its schema is not a valid JSON Schema: {0}")]
    Invalid(String),
}

/// The schema of arguments of type `T`, in normal form.
///
/// # Errors
/// [`SchemaFault`] when no object of arguments can be described by `T`.
pub fn arguments_of<T: JsonSchema + ?Sized>() -> Result<Value, SchemaFault> {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    normal_form(root_schema(settings, T::json_schema))
}

/// The schema of an action's result of type `T`, any kind of value; `None` where there is nothing
/// to describe: for `()`, and for a type that may be anything.
///
/// # Errors
/// [`SchemaFault::TooLarge`] and [`SchemaFault::TooDeep`].
pub fn result_of<T: JsonSchema + ?Sized>() -> Result<Option<Value>, SchemaFault> {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    normal::result_form(root_schema(settings, T::json_schema))
}

/// A type's schema, with the definitions that it uses.
///
/// The type comes as a function, so that this is compiled once, and not twice for every handler as
/// schemars' own root schemas are. Those put the type's name beside it, and refer to the root as `#`:
/// the normal form knows neither. The settings in use have no transforms to apply.
fn root_schema(settings: SchemaSettings, describe: fn(&mut SchemaGenerator) -> Schema) -> Value {
    let mut generator = settings.into_generator();
    let mut schema = describe(&mut generator);
    let root = schema.ensure_object();
    let definitions = generator.take_definitions(false);
    if !definitions.is_empty() {
        root.insert("$defs".to_owned(), definitions.into());
    }
    schema.to_value()
}

/// The schema of an action without arguments.
#[must_use]
pub fn no_arguments() -> Value {
    json!({"type": "object", "properties": {}, "additionalProperties": false})
}
