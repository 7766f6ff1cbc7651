//! OpenAI: function tools of Chat Completions and of Responses.
//!
//! Both APIs take the same name, description, parameters and `strict`; Chat Completions nests them
//! under `function`. `strict` is computed: it is true exactly when the schema has a
//! [rewriting of the same meaning](strict) within the rules of structured outputs. Otherwise the
//! tool goes out with `strict: false` and its own schema, changed only where the API refuses it.

mod questions;
mod rules;
mod strict;
mod strict_rules;

use serde_json::{Map, Value, json};

use crate::descriptor::ToolDescriptor;

use super::any_of::any_of;
use super::{description, place, union};

pub(super) use rules::{MOST_TOOLS, RULES, UNIQUE_NAMES, check_chat, check_responses};

/// The longest description of a function, in characters.
const DESCRIPTION: usize = 1024;

/// A tool of Chat Completions.
pub(super) fn chat(descriptor: &ToolDescriptor, approval_required: bool) -> Value {
    json!({"type": "function", "function": function(descriptor, approval_required)})
}

/// A tool of Responses.
pub(super) fn responses(descriptor: &ToolDescriptor, approval_required: bool) -> Value {
    let mut tool = function(descriptor, approval_required);
    tool.insert("type".to_owned(), json!("function"));
    Value::Object(tool)
}

fn function(descriptor: &ToolDescriptor, approval_required: bool) -> Map<String, Value> {
    let schema = &descriptor.parameters_schema;
    let strict = strict::rewritten(schema);
    let text = description::of_tool(
        &descriptor.description,
        approval_required,
        Some(DESCRIPTION),
    );
    let mut function = Map::new();
    function.insert("name".to_owned(), json!(descriptor.name));
    function.insert("description".to_owned(), json!(text));
    function.insert("strict".to_owned(), json!(strict.is_some()));
    function.insert(
        "parameters".to_owned(),
        strict.unwrap_or_else(|| lenient(schema)),
    );
    function
}

/// The schema for `strict: false`.
fn lenient(schema: &Value) -> Value {
    let Some(root) = schema.as_object() else {
        // Not an object: the checker says so.
        return schema.clone();
    };
    let mut root = if union::is_union(root) {
        union::one_object(root)
    } else {
        root.clone()
    };
    root.remove("$schema");
    let told = description::sentences(&root, &["not", "enum"]);
    description::tell(&mut root, &told);
    root.remove("not");
    root.remove("enum");
    let mut schema = Value::Object(root);
    complete(&mut schema);
    schema
}

/// Adds what the API asks for: `properties` for each object, `items` for each array, and `anyOf`
/// where `oneOf` stands.
fn complete(schema: &mut Value) {
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    if place::has_type(object, "object") && !object.contains_key("properties") {
        object.insert("properties".to_owned(), json!({}));
    }
    if place::has_type(object, "array") && !object.contains_key("items") {
        let items = items_of(object);
        object.insert("items".to_owned(), items);
    }
    if let Some(alternatives) = object.remove("oneOf") {
        match object.remove("anyOf") {
            None => {
                object.insert("anyOf".to_owned(), alternatives);
            }
            Some(others) => {
                let mut parts = match object.remove("allOf") {
                    Some(Value::Array(parts)) => parts,
                    _ => Vec::new(),
                };
                parts.push(json!({"anyOf": others}));
                parts.push(json!({"anyOf": alternatives}));
                object.insert("allOf".to_owned(), Value::Array(parts));
            }
        }
    }
    place::change_inner(object, |inner| {
        // `false` closes an object or a list; elsewhere it says that nothing fits.
        if !inner.is_boolean() || *inner == Value::Bool(true) {
            complete(inner);
        }
    });
}

/// `items` for an array that has none: behind the positions of a tuple nothing else may follow, so
/// that naming their kinds there changes nothing; any other array takes any items.
fn items_of(array: &Map<String, Value>) -> Value {
    let Some(Value::Array(positions)) = array.get("prefixItems") else {
        return json!({});
    };
    let most = array.get("maxItems").and_then(Value::as_u64);
    if most.is_some_and(|most| most <= positions.len() as u64) {
        any_of(positions.iter())
    } else {
        json!({})
    }
}
