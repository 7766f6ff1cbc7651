//! One object for a root that is a union.
//!
//! The payload of a tagged enum is an object with `oneOf` at its root, which most providers refuse.
//! Here the alternatives become one object: every property of each, required where all require it.
//! That object takes everything that the union takes, and more; the alternatives are told in its
//! description, and the kernel checks the union.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::any_of::any_of;
use super::{description, place};

/// The deepest nesting of unions and references at a root that is followed.
const DEPTH: usize = 8;
/// The most parts of one root that are looked at.
const PARTS: usize = 500;
/// The most alternatives that are told.
const MOST_TOLD: usize = 32;

/// What a schema says of properties that it does not name.
#[derive(Debug, Clone, PartialEq)]
enum Rest {
    /// Nothing; `unevaluatedProperties` around it may close it.
    Unsaid,
    /// They are refused.
    Closed,
    /// They are anything.
    Open,
    /// They are this.
    Each(Value),
}

/// What is said of a property.
#[derive(Debug, Clone)]
struct Said {
    schema: Value,
    /// Whether it holds wherever the property is there. Of alternatives that leave what they do not name to a seal around
    /// them, it holds only where one that names it was meant: another part may name it, too, and say otherwise.
    always: bool,
}

/// An object without alternatives.
#[derive(Debug, Clone)]
struct Flat {
    properties: BTreeMap<String, Said>,
    required: BTreeSet<String>,
    rest: Rest,
    description: Option<String>,
    told: Vec<String>,
}

/// Whether a root needs [`one_object`].
pub(super) fn is_union(root: &Map<String, Value>) -> bool {
    ["$ref", "allOf", "anyOf", "oneOf"]
        .iter()
        .any(|key| root.contains_key(*key))
}

/// The root as one object, without `$ref`, `allOf`, `anyOf` and `oneOf` at its top.
///
/// Definitions and all other keywords stay where they are.
pub(super) fn one_object(root: &Map<String, Value>) -> Map<String, Value> {
    let document = Value::Object(root.clone());
    merged(&document, root)
}

/// The same for an object schema anywhere in a document.
pub(super) fn merged(document: &Value, schema: &Map<String, Value>) -> Map<String, Value> {
    let merging = Merging {
        document,
        left: Cell::new(PARTS),
    };
    let flat = merging.flat(schema, false, 0);
    let mut object = schema.clone();
    for key in [
        "$ref",
        "allOf",
        "anyOf",
        "oneOf",
        "unevaluatedProperties",
        "additionalProperties",
    ] {
        object.remove(key);
    }
    object.insert("type".to_owned(), json!("object"));
    let properties = flat.properties.into_iter();
    object.insert(
        "properties".to_owned(),
        properties.map(|(name, said)| (name, said.schema)).collect(),
    );
    if flat.required.is_empty() {
        object.remove("required");
    } else {
        object.insert("required".to_owned(), flat.required.into_iter().collect());
    }
    match flat.rest {
        Rest::Unsaid | Rest::Open => {}
        Rest::Closed => {
            object.insert("additionalProperties".to_owned(), json!(false));
        }
        Rest::Each(each) => {
            object.insert("additionalProperties".to_owned(), each);
        }
    }
    if let Some(text) = flat.description {
        object.insert("description".to_owned(), json!(text));
    }
    description::tell(&mut object, &flat.told);
    object
}

struct Merging<'a> {
    document: &'a Value,
    left: Cell<usize>,
}

impl Merging<'_> {
    /// `sealed`: an `unevaluatedProperties: false` around this schema refuses what nobody names.
    fn flat(&self, schema: &Map<String, Value>, sealed: bool, depth: usize) -> Flat {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        if depth > DEPTH || left == 0 {
            // Nothing is known of it, so nothing is asked.
            return Flat {
                properties: BTreeMap::new(),
                required: BTreeSet::new(),
                rest: Rest::Open,
                description: None,
                told: Vec::new(),
            };
        }
        let closes = schema.get("unevaluatedProperties") == Some(&Value::Bool(false));
        let sealed = sealed || closes;
        let mut flat = own(schema);
        let target =
            place::reference(schema).map(|reference| place::target(self.document, reference));
        match target {
            Some(Some(Value::Object(target))) => {
                flat = both(flat, self.flat(target, sealed, depth + 1));
            }
            Some(_) => flat.rest = Rest::Open,
            None => {}
        }
        for part in branches(schema, "allOf") {
            flat = both(flat, self.flat(part, sealed, depth + 1));
        }
        for (key, words) in [("oneOf", "Exactly one"), ("anyOf", "At least one")] {
            let alternatives: Vec<_> = branches(schema, key)
                .filter(|branch| place::types(branch).is_none_or(|types| types.contains(&"object")))
                .map(|branch| self.flat(branch, sealed, depth + 1))
                .collect();
            if let Some(mut either) = either(&alternatives, sealed) {
                if alternatives.len() > 1 {
                    either.told.push(told(words, &alternatives));
                }
                flat = both(flat, either);
            }
        }
        if closes && flat.rest == Rest::Unsaid {
            flat.rest = Rest::Closed;
        }
        flat
    }
}

fn branches<'a>(
    schema: &'a Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = &'a Map<String, Value>> {
    schema
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
}

/// What a schema says itself.
fn own(schema: &Map<String, Value>) -> Flat {
    let properties = schema.get("properties").and_then(Value::as_object);
    let rest = match schema.get("additionalProperties") {
        // Patterns name properties too.
        _ if schema.contains_key("patternProperties") => Rest::Open,
        Some(Value::Bool(false)) => Rest::Closed,
        Some(Value::Object(each)) if !each.is_empty() => Rest::Each(Value::Object(each.clone())),
        Some(_) => Rest::Open,
        None => Rest::Unsaid,
    };
    Flat {
        properties: properties
            .into_iter()
            .flatten()
            .filter(|(_, inner)| **inner != Value::Bool(false))
            .map(|(name, inner)| {
                let schema = inner.clone();
                (
                    name.clone(),
                    Said {
                        schema,
                        always: true,
                    },
                )
            })
            .collect(),
        required: place::required(schema)
            .into_iter()
            .map(str::to_owned)
            .collect(),
        rest,
        description: schema
            .get("description")
            .and_then(Value::as_str)
            .map(str::to_owned),
        told: Vec::new(),
    }
}

/// An object that takes what both take, or more.
fn both(one: Flat, other: Flat) -> Flat {
    let mut properties = one.properties;
    for (name, said) in other.properties {
        let together = match properties.remove(&name) {
            None => said,
            Some(known) => said_by_both(known, said),
        };
        properties.insert(name, together);
    }
    let rest = match (one.rest, other.rest) {
        (Rest::Closed, _) | (_, Rest::Closed) => Rest::Closed,
        (Rest::Each(each), _) | (_, Rest::Each(each)) => Rest::Each(each),
        (Rest::Open, _) | (_, Rest::Open) => Rest::Open,
        (Rest::Unsaid, Rest::Unsaid) => Rest::Unsaid,
    };
    Flat {
        properties,
        required: one.required.into_iter().chain(other.required).collect(),
        rest,
        description: one.description.or(other.description),
        told: one.told.into_iter().chain(other.told).collect(),
    }
}

/// What takes all that both take, or more.
fn said_by_both(one: Said, other: Said) -> Said {
    match (one.always, other.always) {
        // Either of the two is looser than both; an empty one tells nothing.
        (true, true) if one.schema.as_object().is_some_and(Map::is_empty) => other,
        (true, _) => one,
        (false, true) => other,
        (false, false) => Said {
            schema: any_of([&one.schema, &other.schema].into_iter()),
            always: false,
        },
    }
}

/// An object that takes what any of them takes, or more; `None` for no alternatives.
fn either(alternatives: &[Flat], sealed: bool) -> Option<Flat> {
    let (first, others) = alternatives.split_first()?;
    let names: BTreeSet<_> = alternatives
        .iter()
        .flat_map(|flat| flat.properties.keys())
        .collect();
    let anything = Value::Object(Map::new());
    let properties = names.into_iter().map(|name| {
        let said = alternatives.iter().filter_map(|flat| {
            let unnamed = match &flat.rest {
                Rest::Closed => None,
                Rest::Unsaid if sealed => None,
                Rest::Unsaid | Rest::Open => Some(&anything),
                Rest::Each(each) => Some(each),
            };
            let named = flat.properties.get(name).map(|said| &said.schema);
            named.or(unnamed)
        });
        let always = alternatives
            .iter()
            .all(|flat| match flat.properties.get(name) {
                Some(said) => said.always,
                None => !(sealed && flat.rest == Rest::Unsaid),
            });
        let schema = any_of(said);
        (name.clone(), Said { schema, always })
    });
    let required = others.iter().fold(first.required.clone(), |kept, flat| {
        kept.intersection(&flat.required).cloned().collect()
    });
    let all = |rest: &Rest| alternatives.iter().all(|flat| &flat.rest == rest);
    let rest = if all(&first.rest) {
        first.rest.clone()
    } else if alternatives
        .iter()
        .all(|flat| matches!(flat.rest, Rest::Closed | Rest::Unsaid))
    {
        Rest::Unsaid
    } else {
        Rest::Open
    };
    Some(Flat {
        properties: properties.collect(),
        required,
        rest,
        description: None,
        told: alternatives
            .iter()
            .flat_map(|flat| flat.told.clone())
            .collect(),
    })
}

/// The alternatives in words.
fn told(words: &str, alternatives: &[Flat]) -> String {
    let mut forms: Vec<_> = alternatives.iter().take(MOST_TOLD).map(form).collect();
    if alternatives.len() > MOST_TOLD {
        forms.push(format!("{} more", alternatives.len() - MOST_TOLD));
    }
    format!("{words} of these forms: {}.", forms.join("; "))
}

/// One alternative: its fixed values, its required names, its optional ones with `?`.
fn form(flat: &Flat) -> String {
    let names = flat.properties.iter().map(|(name, said)| {
        let fixed = said.schema.get("const").or_else(|| {
            match said
                .schema
                .get("enum")
                .and_then(Value::as_array)?
                .as_slice()
            {
                [only] => Some(only),
                _ => None,
            }
        });
        match fixed {
            Some(value) => format!("{name}: {}", description::quote(value)),
            None if flat.required.contains(name) => name.clone(),
            None => format!("{name}?"),
        }
    });
    let shape = format!("{{{}}}", description::list(names));
    match &flat.description {
        Some(text) => format!(
            "{shape} ({})",
            description::clip(text.trim_end_matches('.'))
        ),
        None => shape,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merge(root: Value) -> Value {
        Value::Object(one_object(root.as_object().unwrap()))
    }

    #[test]
    fn a_tagged_union_becomes_one_object_that_tells_its_alternatives() {
        let merged = merge(json!({
            "type": "object",
            "description": "What to do.",
            "properties": {},
            "$defs": {"Move": {
                "type": "object", "additionalProperties": false, "description": "Move it.",
                "properties": {"kind": {"type": "string", "const": "move"}, "to": {"type": "string"}},
                "required": ["kind", "to"]
            }},
            "oneOf": [
                {"$ref": "#/$defs/Move"},
                {
                    "type": "object", "additionalProperties": false,
                    "properties": {
                        "kind": {"type": "string", "const": "drop"},
                        "to": {"type": "integer"},
                        "why": {"type": "string"}
                    },
                    "required": ["kind"]
                }
            ]
        }));
        assert_eq!(
            merged["properties"],
            json!({
                "kind": {"type": "string", "enum": ["drop", "move"]},
                "to": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "why": {"type": "string"}
            })
        );
        assert_eq!(merged["required"], json!(["kind"]));
        assert_eq!(merged["additionalProperties"], false);
        assert_eq!(
            merged["description"],
            "What to do. Exactly one of these forms: {kind: \"move\", to} (Move it); \
             {kind: \"drop\", to?, why?}."
        );
        assert!(merged.get("oneOf").is_none() && merged.get("$defs").is_some());
    }

    #[test]
    fn a_name_that_an_open_alternative_does_not_name_may_be_anything() {
        let merged = merge(json!({
            "type": "object", "properties": {},
            "anyOf": [
                {"properties": {"a": {"type": "string"}}, "additionalProperties": false},
                {"properties": {"b": {"type": "string"}}}
            ]
        }));
        assert_eq!(
            merged["properties"],
            json!({"a": {}, "b": {"type": "string"}})
        );
        assert_eq!(merged.get("additionalProperties"), None);
    }

    #[test]
    fn parts_are_united_and_a_seal_closes_them() {
        let merged = merge(json!({
            "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
            "unevaluatedProperties": false,
            "allOf": [{"properties": {"b": {"type": "string"}}, "required": ["b"]}],
            "oneOf": [{"properties": {"c": {"type": "string"}}}, {"type": "object", "properties": {}}]
        }));
        assert_eq!(merged["required"], json!(["a", "b"]));
        assert_eq!(merged["additionalProperties"], false);
        assert_eq!(
            merged["properties"]
                .as_object()
                .unwrap()
                .keys()
                .collect::<Vec<_>>(),
            ["a", "b", "c"]
        );
        assert_eq!(merged["properties"]["c"], json!({"type": "string"}));
    }

    #[test]
    fn a_name_that_the_root_has_too_may_be_anything_where_an_alternative_does_not_name_it() {
        let merged = merge(json!({
            "type": "object", "properties": {"b": {}}, "unevaluatedProperties": false,
            "oneOf": [
                {"properties": {"b": {"type": "string"}, "k": {"const": 0}}, "required": ["k"]},
                {"properties": {"k": {"const": 1}}, "required": ["k"]}
            ]
        }));
        assert_eq!(merged["properties"]["b"], json!({}));
        // Of two parts that leave it to the seal, each may be the one that names it.
        let merged = merge(json!({
            "type": "object", "properties": {}, "unevaluatedProperties": false,
            "oneOf": [{"properties": {"b": {"type": "string"}}}, {"properties": {"c": {}}}],
            "anyOf": [{"properties": {"b": {"type": "number"}}}, {"properties": {"d": {}}}]
        }));
        let either = json!({"anyOf": [{"type": "string"}, {"type": "number"}]});
        assert_eq!(merged["properties"]["b"], either);
        assert_eq!(merged["properties"]["c"], json!({}));
    }

    #[test]
    fn a_root_of_many_alternatives_that_are_itself_ends() {
        let itself: Vec<_> = (0..100).map(|_| json!({"$ref": "#"})).collect();
        let merged = merge(json!({"type": "object", "properties": {}, "oneOf": itself}));
        assert_eq!(merged.get("additionalProperties"), None);
    }

    #[test]
    fn a_root_that_is_made_of_itself_ends() {
        let merged = merge(json!({"type": "object", "properties": {}, "$ref": "#"}));
        assert_eq!(merged["properties"], json!({}));
        assert_eq!(merged.get("additionalProperties"), None);
    }
}
