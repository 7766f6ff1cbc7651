//! The places of a schema where schemas stand. Data, such as `const`, `enum`, `default` and
//! `examples`, is none of them, whatever it looks like.

use serde_json::{Map, Value};

pub(super) type Object = Map<String, Value>;

/// What an inner schema is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// A value inside the one that the outer schema is about.
    Inside,
    /// The same value: an alternative or a part.
    Same,
    /// The same value, which must not be so.
    Not,
}

/// The schemas that stand directly in this one. "Nothing else", as `false` for further properties,
/// is none.
pub(super) fn inner_mut(object: &mut Object) -> Vec<(About, &mut Value)> {
    let mut found = Vec::new();
    for (key, value) in object.iter_mut() {
        match (key.as_str(), value) {
            (
                "properties" | "patternProperties" | "dependentSchemas" | "$defs",
                Value::Object(map),
            ) => found.extend(map.values_mut().map(|inner| (About::Inside, inner))),
            ("additionalProperties" | "unevaluatedProperties", Value::Bool(false)) => {}
            (
                "items"
                | "contains"
                | "propertyNames"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "unevaluatedItems",
                inner,
            ) => found.push((About::Inside, inner)),
            ("prefixItems", Value::Array(list)) => {
                found.extend(list.iter_mut().map(|inner| (About::Inside, inner)));
            }
            ("oneOf" | "anyOf" | "allOf", Value::Array(list)) => {
                found.extend(list.iter_mut().map(|inner| (About::Same, inner)));
            }
            ("if" | "then" | "else", inner) => found.push((About::Same, inner)),
            ("not", inner) => found.push((About::Not, inner)),
            _ => {}
        }
    }
    found
}

/// Shows each `$ref` of a schema, however deep, and takes what it is changed to.
pub(super) fn each_reference(schema: &mut Value, change: &mut dyn FnMut(&mut String)) {
    let Value::Object(object) = schema else {
        return;
    };
    if let Some(Value::String(reference)) = object.get_mut("$ref") {
        change(reference);
    }
    for (_, inner) in inner_mut(object) {
        each_reference(inner, change);
    }
}

/// The `$ref`s of a schema.
pub(super) fn references(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    each_reference(&mut schema.clone(), &mut |reference| {
        found.push(reference.clone())
    });
    found
}

/// Whether a value is nested at most so deep.
pub(super) fn is_within(value: &Value, depth: usize) -> bool {
    let Some(less) = depth.checked_sub(1) else {
        return false;
    };
    match value {
        Value::Array(list) => list.iter().all(|inner| is_within(inner, less)),
        Value::Object(map) => map.values().all(|inner| is_within(inner, less)),
        _ => true,
    }
}
