//! One schema for several that may each apply.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// A schema that takes what any of them takes.
pub(super) fn any_of<'a>(schemas: impl Iterator<Item = &'a Value>) -> Value {
    let mut distinct: Vec<&Value> = Vec::new();
    for schema in schemas {
        if !distinct.iter().any(|known| same(known, schema)) {
            distinct.push(schema);
        }
    }
    match distinct.as_slice() {
        [] => Value::Object(Map::new()),
        [only] => (*only).clone(),
        several => {
            if several.iter().any(|schema| takes_anything(schema)) {
                return Value::Object(Map::new());
            }
            one_enum(several).unwrap_or_else(|| json!({"anyOf": several}))
        }
    }
}

fn takes_anything(schema: &Value) -> bool {
    match schema {
        Value::Object(schema) => schema
            .keys()
            .all(|key| key == "description" || key == "title"),
        other => *other == Value::Bool(true),
    }
}

/// Whether two schemas differ in their words at most.
fn same(one: &Value, other: &Value) -> bool {
    let bare = |schema: &Value| {
        let mut schema = schema.clone();
        if let Some(schema) = schema.as_object_mut() {
            schema.remove("description");
            schema.remove("title");
        }
        schema
    };
    one == other || bare(one) == bare(other)
}

/// One enum for several schemas of fixed texts, as the tags of alternatives are.
fn one_enum(schemas: &[&Value]) -> Option<Value> {
    let mut texts = BTreeSet::new();
    for schema in schemas {
        let schema = schema.as_object()?;
        let plain = ["type", "const", "enum", "description", "title"];
        if !schema.keys().all(|key| plain.contains(&key.as_str())) {
            return None;
        }
        match (schema.get("const"), schema.get("enum")) {
            (Some(Value::String(text)), None) => {
                texts.insert(text.as_str());
            }
            (None, Some(Value::Array(values))) => {
                for value in values {
                    texts.insert(value.as_str()?);
                }
            }
            _ => return None,
        }
    }
    Some(json!({"type": "string", "enum": texts}))
}
