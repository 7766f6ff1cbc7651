//! Gemini: function declarations of the Gemini API and of Vertex AI.
//!
//! A declaration has two fields for its arguments: `parameters`, a subset of OpenAPI 3.0 schemas,
//! and `parametersJsonSchema`, which takes JSON Schema and excludes the other. This shape uses
//! `parameters`: every model, both APIs and the client libraries take it, and its fields are
//! published one by one, so that a checker can tell beforehand what would be refused. What the
//! [subset] cannot say is told in descriptions.

mod cut;
mod form;
mod rules;
mod subset;

use serde_json::{Map, Value, json};

use crate::descriptor::ToolDescriptor;

use super::description;
use super::rule::RuleFault;

pub(super) use rules::{MOST_TOOLS, RULES, UNIQUE_NAMES, check};

/// A function declaration. One without arguments has no `parameters`: an object without properties
/// is refused there.
pub(super) fn declaration(
    descriptor: &ToolDescriptor,
    approval_required: bool,
) -> Result<Value, Vec<RuleFault>> {
    let mut declaration = Map::new();
    declaration.insert("name".to_owned(), json!(descriptor.name));
    let text = description::of_tool(&descriptor.description, approval_required, None);
    declaration.insert("description".to_owned(), json!(text));
    if let Some(parameters) = subset::parameters(&descriptor.parameters_schema)? {
        declaration.insert("parameters".to_owned(), parameters);
    }
    Ok(Value::Object(declaration))
}
