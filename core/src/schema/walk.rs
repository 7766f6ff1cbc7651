//! Where, in a JSON Schema (2020-12), schemas stand, and where references lead. Data, such as
//! `const`, `enum`, `default` and `examples`, is no schema, whatever it looks like.

use serde_json::{Map, Value};

pub(crate) type Object = Map<String, Value>;

/// Where schemas stand in the value of a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// The value is a schema.
    One,
    /// It is a list of schemas.
    List,
    /// It is a map from names to schemas.
    Map,
    /// No schema is in it.
    None,
}

impl Holds {
    pub(crate) fn of(keyword: &str) -> Self {
        match keyword {
            "items"
            | "contains"
            | "propertyNames"
            | "not"
            | "if"
            | "then"
            | "else"
            | "contentSchema"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "unevaluatedItems" => Self::One,
            "prefixItems" | "allOf" | "anyOf" | "oneOf" => Self::List,
            "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => {
                Self::Map
            }
            _ => Self::None,
        }
    }
}

/// The schemas that stand directly in this one, each with its keyword.
pub(crate) fn inner_mut(object: &mut Object) -> Vec<(&str, &mut Value)> {
    let mut found = Vec::new();
    for (keyword, value) in object.iter_mut() {
        let keyword = keyword.as_str();
        match (Holds::of(keyword), value) {
            (Holds::One, inner) => found.push((keyword, inner)),
            (Holds::List, Value::Array(list)) => {
                found.extend(list.iter_mut().map(|inner| (keyword, inner)));
            }
            (Holds::Map, Value::Object(map)) => {
                found.extend(map.values_mut().map(|inner| (keyword, inner)));
            }
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
pub(crate) fn references(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    each_reference(&mut schema.clone(), &mut |reference| {
        found.push(reference.clone());
    });
    found
}

/// A name as a segment of a JSON Pointer (RFC 6901).
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The JSON Pointer of a `$ref` into its own document: its fragment, percent-decoded (RFC 6901,
/// section 6).
pub(crate) fn pointer(reference: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = reference.strip_prefix('#')?.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let (high, low) = (digit()?, digit()?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The name of the definition that a `$ref` leads to; `None` when it leads elsewhere.
pub(crate) fn definition(reference: &str) -> Option<String> {
    let pointer = pointer(reference)?;
    let name = pointer.strip_prefix("/$defs/")?;
    (!name.contains('/')).then(|| name.replace("~1", "/").replace("~0", "~"))
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
