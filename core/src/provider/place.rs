//! Places: where, inside a schema, schemas stand; and what a reference leads to.
//!
//! INVARIANT: everything in [`provider`](super) that descends into a schema by recursion does so
//! after [`Bound::check`], so that its depth is bounded, and follows references by count.

use serde_json::{Map, Value};

use super::rule::{Faults, Rule};
use crate::schema::walk::{Holds, inner_mut, pointer};

pub(super) use crate::schema::walk::{definition, escaped};

pub(super) const BOUNDED: Rule = Rule {
    id: "actum.bounded",
    says: "A schema nests at most 48 levels of JSON and has at most 20000 values, also when it is written out.",
    source: "a bound of Actum's own",
};

/// How far a schema may go.
pub(super) struct Bound;

impl Bound {
    /// The deepest nesting of JSON values; a schema takes two or three for each level of its own.
    const DEPTH: usize = 48;
    /// The most JSON values in one schema.
    const VALUES: usize = 20_000;

    /// Checks any JSON, without recursion.
    pub(super) fn check(value: &Value) -> Result<(), String> {
        let mut open = vec![(value, 1_usize)];
        let mut seen = 0_usize;
        while let Some((value, depth)) = open.pop() {
            seen += 1;
            if depth > Self::DEPTH {
                return Err(format!(
                    "it nests more than {} levels of JSON; make the payload flatter",
                    Self::DEPTH
                ));
            }
            if seen > Self::VALUES {
                return Err(format!(
                    "it has more than {} values; make the payload smaller",
                    Self::VALUES
                ));
            }
            match value {
                Value::Array(list) => open.extend(list.iter().map(|inner| (inner, depth + 1))),
                Value::Object(map) => open.extend(map.values().map(|inner| (inner, depth + 1))),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The schemas that stand directly in a schema, each with its pointer from there.
pub(super) fn inner(schema: &Map<String, Value>) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for (key, value) in schema {
        match (Holds::of(key), value) {
            (Holds::One, inner) => found.push((format!("/{key}"), inner)),
            (Holds::List, Value::Array(list)) => found.extend(
                list.iter()
                    .enumerate()
                    .map(|(index, inner)| (format!("/{key}/{index}"), inner)),
            ),
            (Holds::Map, Value::Object(map)) => found.extend(
                map.iter()
                    .map(|(name, inner)| (format!("/{key}/{}", escaped(name)), inner)),
            ),
            _ => {}
        }
    }
    found
}

/// Changes the schemas that stand directly in a schema.
pub(super) fn change_inner(schema: &mut Map<String, Value>, mut change: impl FnMut(&mut Value)) {
    for (_, inner) in inner_mut(schema) {
        change(inner);
    }
}

/// Every schema in a schema, itself first, each with its pointer behind `at`.
pub(super) fn all<'a>(schema: &'a Value, at: &str) -> Vec<(String, &'a Value)> {
    let mut found = Vec::new();
    let mut open = vec![(at.to_owned(), schema)];
    while let Some((at, schema)) = open.pop() {
        if let Some(object) = schema.as_object() {
            open.extend(
                inner(object)
                    .into_iter()
                    .map(|(below, inner)| (format!("{at}{below}"), inner)),
            );
        }
        found.push((at, schema));
    }
    found
}

/// What a `$ref` leads to, inside its own document; `None` when it leads out, or nowhere.
pub(super) fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(&pointer(reference)?)
}

/// The schema's `$ref`, where it has one.
pub(super) fn reference(schema: &Map<String, Value>) -> Option<&str> {
    schema.get("$ref").and_then(Value::as_str)
}

/// The types that a schema names; `None` where it names none and so takes all.
pub(super) fn types(schema: &Map<String, Value>) -> Option<Vec<&str>> {
    match schema.get("type")? {
        Value::String(one) => Some(vec![one]),
        Value::Array(list) => Some(list.iter().filter_map(Value::as_str).collect()),
        _ => Some(Vec::new()),
    }
}

/// Whether a schema names this type.
pub(super) fn has_type(schema: &Map<String, Value>, kind: &str) -> bool {
    types(schema).is_some_and(|types| types.contains(&kind))
}

/// The names that a schema requires.
pub(super) fn required(schema: &Map<String, Value>) -> Vec<&str> {
    schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}

/// Holds a schema against what every provider that takes JSON Schema asks for: that it is one
/// (2020-12), and that its references lead to something inside it.
pub(super) fn check_json_schema(
    schema: &Value,
    at: &str,
    (valid, local): (&'static Rule, &'static Rule),
    faults: &mut Faults,
) {
    if let Err(error) = jsonschema::draft202012::meta::validate(schema) {
        let place = format!("{at}{}", error.instance_path());
        let problem = format!(
            "not a JSON Schema: {}; correct the schema",
            error.masked_with("the value")
        );
        faults.add(valid, place, problem);
    }
    for (place, inner) in all(schema, at) {
        let Some(reference) = inner.as_object().and_then(|inner| inner.get("$ref")) else {
            continue;
        };
        let leads = reference
            .as_str()
            .and_then(|reference| target(schema, reference));
        if !leads.is_some_and(|schema| schema.is_object() || schema.is_boolean()) {
            let problem = format!(
                "the reference {reference} leads to no schema in here; define it under `$defs`"
            );
            faults.add(local, format!("{place}/$ref"), problem);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_reference_is_followed_as_rfc_6901_reads_it() {
        let root = json!({"$defs": {"a/b~ é": {"type": "string"}}, "properties": {"x": {}}});
        assert_eq!(target(&root, "#"), Some(&root));
        assert_eq!(target(&root, "#/properties/x"), Some(&json!({})));
        let reference = "#/$defs/a~1b~0%20%C3%A9";
        assert_eq!(target(&root, reference), Some(&json!({"type": "string"})));
        assert_eq!(definition(reference).as_deref(), Some("a/b~ é"));
        assert_eq!(definition("#/properties/x"), None);
        for lost in [
            "",
            "x.json",
            "#x",
            "#/$defs/%",
            "#/$defs/%zz",
            "#/$defs/%ff",
        ] {
            assert_eq!(target(&root, lost), None, "{lost}");
        }
    }

    #[test]
    fn every_place_where_a_schema_stands_is_found_and_no_other() {
        let here = json!({"here": 1});
        let schema = json!({
            "properties": {"a/b": here, "enum": here}, "patternProperties": {"x": here},
            "$defs": {"D": here}, "definitions": {"D": here}, "dependentSchemas": {"a": here},
            "items": here, "prefixItems": [here], "contains": here, "additionalProperties": here,
            "unevaluatedProperties": here, "unevaluatedItems": here, "propertyNames": here,
            "not": here, "if": here, "then": here, "else": here, "contentSchema": here,
            "anyOf": [here], "allOf": [here, {"oneOf": [here]}],
            "const": {"items": {"away": 1}}, "default": {"away": 1}, "enum": [{"away": 1}],
            "examples": [{"away": 1}]
        });
        let found: Vec<_> = all(&schema, "")
            .into_iter()
            .filter(|(_, schema)| **schema == here)
            .map(|(at, _)| at)
            .collect();
        assert_eq!(found.len(), schema.to_string().matches("here").count());
        for at in found {
            assert_eq!(schema.pointer(&at), Some(&here), "{at}");
        }
        let mut changed = schema.clone();
        let mut count = 0;
        change_inner(changed.as_object_mut().unwrap(), |_| count += 1);
        assert_eq!(count, inner(schema.as_object().unwrap()).len());
    }

    #[test]
    fn what_is_too_deep_or_too_large_is_told() {
        let nested = |depth: usize| (1..depth).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(Bound::check(&nested(48)), Ok(()));
        assert!(Bound::check(&nested(49)).unwrap_err().contains("48 levels"));
        assert_eq!(Bound::check(&json!(vec![1; 19_999])), Ok(()));
        assert!(
            Bound::check(&json!(vec![1; 20_000]))
                .unwrap_err()
                .contains("20000")
        );
    }
}
