//! Schemas in normal form, as payload types give them: closed objects, maps, tuples, enums, unions,
//! nullable parts, references to definitions, and definitions that contain themselves.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

const NAMES: [&str; 5] = ["alpha", "beta", "gamma", "delta", "kind"];
/// Definitions; any of them may contain any of them.
const DEFINITIONS: [&str; 3] = ["D0", "D1", "D2"];

/// A root with definitions.
pub fn root() -> BoxedStrategy<Value> {
    with_definitions(
        prop_oneof![
            6 => object(part()),
            2 => union_root(),
            1 => flattened(part()),
            1 => part().prop_map(|each| json!({"type": "object", "properties": {}, "additionalProperties": each})),
        ]
        .boxed(),
        part(),
    )
}

/// A root that often has a strict form: what structured outputs have no word for is rare in it.
pub fn strictable() -> BoxedStrategy<Value> {
    let part = exact_part();
    with_definitions(
        object(prop_oneof![3 => part.clone(), 1 => nullable(part.clone())].boxed()),
        part,
    )
}

fn with_definitions(
    root: BoxedStrategy<Value>,
    part: BoxedStrategy<Value>,
) -> BoxedStrategy<Value> {
    let definition = || prop_oneof![4 => object(part.clone()), 1 => texts()].boxed();
    (root, definition(), definition(), definition())
        .prop_map(|(mut root, d0, d1, d2)| {
            root["$defs"] = json!({"D0": d0, "D1": d1, "D2": d2});
            root
        })
        .boxed()
}

/// Any part of a payload.
fn part() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "string", "minLength": 1, "maxLength": 8})),
        Just(json!({"type": "string", "format": "date-time"})),
        Just(json!({"type": "string", "format": "uuid"})),
        Just(json!({"type": "string", "pattern": "^[a-z]+$"})),
        Just(json!({"type": "integer", "minimum": 0, "maximum": 255})),
        Just(json!({"type": "integer", "exclusiveMinimum": 0})),
        Just(json!({"type": "integer", "enum": [1, 2]})),
        Just(json!({"type": "number", "exclusiveMaximum": 10.5, "multipleOf": 0.5})),
        Just(json!({"type": "boolean"})),
        Just(json!({"const": "fixed"})),
        Just(json!({"type": ["string", "integer", "null"], "description": "One or the other"})),
        Just(json!({"description": "Anything."})),
        Just(json!({})),
        texts(),
        reference(),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let inner = inner.boxed();
        prop_oneof![
            inner
                .clone()
                .prop_map(|items| json!({"type": "array", "items": items})),
            inner.clone().prop_map(
                |items| json!({"type": "array", "items": items, "uniqueItems": true, "minItems": 1})
            ),
            prop::collection::vec(inner.clone(), 1..3).prop_map(tuple),
            inner.clone().prop_map(
                |each| json!({"type": "object", "properties": {}, "additionalProperties": each})
            ),
            object(inner.clone()),
            nullable(inner.clone()),
            tagged(inner.clone()),
            named(inner.clone()),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|forms| json!({"anyOf": forms})),
            inner
                .clone()
                .prop_map(|inner| json!({"allOf": [inner], "description": "Of one part."})),
            (
                inner.clone(),
                select(vec![json!(1), json!("x"), json!(null)])
            )
                .prop_map(|(mut schema, default)| {
                    schema["default"] = default;
                    schema
                }),
            inner.prop_map(|inner| json!({"not": inner, "type": "string"})),
        ]
    })
    .boxed()
}

/// Any part that structured outputs have words for, mostly.
fn exact_part() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        4 => Just(json!({"type": "string"})),
        2 => Just(json!({"type": "integer", "minimum": 0, "maximum": 9})),
        1 => Just(json!({"type": "string", "format": "uri", "title": "A title"})),
        1 => Just(json!({"type": "boolean", "default": true})),
        1 => Just(json!({"const": "fixed"})),
        2 => texts(),
        2 => reference(),
    ];
    leaf.prop_recursive(2, 12, 3, |inner| {
        let inner = inner.boxed();
        prop_oneof![
            inner
                .clone()
                .prop_map(|items| json!({"type": "array", "items": items, "maxItems": 3})),
            inner
                .clone()
                .prop_map(|item| tuple(vec![item.clone(), item])),
            closed(inner.clone(), true),
            nullable(inner.clone()),
            tagged(inner.clone()),
            named(inner.clone()),
            (inner.clone(), inner).prop_map(|(a, b)| json!({"oneOf": [a, b]})),
        ]
    })
    .boxed()
}

fn texts() -> BoxedStrategy<Value> {
    prop::collection::btree_set("[a-c]{1,2}", 1..4)
        .prop_map(|texts| json!({"type": "string", "enum": texts}))
        .boxed()
}

fn reference() -> BoxedStrategy<Value> {
    (select(&DEFINITIONS[..]), any::<bool>())
        .prop_map(|(name, told)| {
            let mut reference = json!({"$ref": format!("#/$defs/{name}")});
            if told {
                reference["description"] = json!("Said here");
            }
            reference
        })
        .boxed()
}

fn tuple(positions: Vec<Value>) -> Value {
    let length = positions.len();
    json!({"type": "array", "prefixItems": positions, "minItems": length, "maxItems": length})
}

/// As `Option` gives it.
fn nullable(inner: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    inner
        .prop_map(
            |mut inner| match inner.get("type").and_then(Value::as_str) {
                Some(kind) if inner.get("enum").is_none() => {
                    let kind = kind.to_owned();
                    inner["type"] = json!([kind, "null"]);
                    inner
                }
                _ => json!({"anyOf": [inner, {"type": "null"}]}),
            },
        )
        .boxed()
}

fn object(inner: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop_oneof![1 => closed(inner.clone(), true), 2 => closed(inner, false)].boxed()
}

fn closed(inner: BoxedStrategy<Value>, all_required: bool) -> BoxedStrategy<Value> {
    let property = (select(&NAMES[..]), inner, any::<bool>());
    prop::collection::vec(property, 1..4)
        .prop_map(move |properties| {
            let mut required = Vec::new();
            let mut named = Map::new();
            for (name, schema, asked) in properties {
                if named.insert(name.to_owned(), schema).is_none() && (asked || all_required) {
                    required.push(name);
                }
            }
            json!({
                "type": "object", "properties": named, "required": required,
                "additionalProperties": false
            })
        })
        .boxed()
}

/// The alternatives of an internally tagged enum.
fn variants(inner: BoxedStrategy<Value>) -> BoxedStrategy<Vec<Value>> {
    prop::collection::vec(object(inner), 1..4)
        .prop_map(|variants| {
            let tagged = variants
                .into_iter()
                .enumerate()
                .map(|(index, mut variant)| {
                    variant["properties"]["kind"] =
                        json!({"type": "string", "const": format!("v{index}")});
                    let mut required = variant["required"].as_array().unwrap().clone();
                    if !required.contains(&json!("kind")) {
                        required.push(json!("kind"));
                    }
                    variant["required"] = json!(required);
                    variant
                });
            tagged.collect()
        })
        .boxed()
}

fn tagged(inner: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    variants(inner)
        .prop_map(|variants| json!({"oneOf": variants}))
        .boxed()
}

/// The alternatives of an externally tagged enum.
fn named(inner: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop::collection::vec(inner, 1..3)
        .prop_map(|inner| {
            let mut forms: Vec<_> = inner
                .into_iter()
                .zip(NAMES)
                .map(|(inner, name)| {
                    json!({
                        "type": "object", "properties": {name: inner}, "required": [name],
                        "additionalProperties": false
                    })
                })
                .collect();
            forms.push(json!({"type": "string", "enum": ["unit"]}));
            json!({"oneOf": forms})
        })
        .boxed()
}

/// As a flattened enum gives it: fields beside alternatives, closed around both.
fn flattened(inner: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    (object(inner.clone()), variants(inner))
        .prop_map(|(mut fields, mut variants)| {
            for part in variants.iter_mut().chain([&mut fields]) {
                part.as_object_mut().unwrap().remove("additionalProperties");
            }
            fields["oneOf"] = json!(variants);
            fields["unevaluatedProperties"] = json!(false);
            fields
        })
        .boxed()
}

fn union_root() -> BoxedStrategy<Value> {
    (
        variants(part()),
        select(vec!["oneOf", "anyOf"]),
        any::<bool>(),
    )
        .prop_map(|(mut variants, key, open)| {
            if open {
                variants[0]
                    .as_object_mut()
                    .unwrap()
                    .remove("additionalProperties");
            }
            json!({"type": "object", "properties": {}, key: variants})
        })
        .boxed()
}

/// Anything that looks like a schema, in normal form or not, sound or not.
pub fn wild() -> BoxedStrategy<Value> {
    let keywords = vec![
        "$defs",
        "$ref",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "default",
        "description",
        "enum",
        "exclusiveMinimum",
        "format",
        "items",
        "maxItems",
        "minLength",
        "minimum",
        "not",
        "oneOf",
        "pattern",
        "prefixItems",
        "properties",
        "required",
        "title",
        "type",
        "unevaluatedProperties",
        "D0",
        "x",
    ];
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        select(vec![
            "string",
            "number",
            "integer",
            "array",
            "object",
            "null",
            "#",
            "#/$defs/D0",
            "#/properties/x",
            "#/oneOf/0",
            "#/%zz",
            "x",
            "",
            "\u{e9}"
        ])
        .prop_map(Value::from),
        Just(json!({"type": "object", "properties": {}})),
        Just(json!({"$ref": "#"})),
        Just(json!({"$ref": "#/$defs/D0"})),
        Just(json!({"$ref": "#/properties/x"})),
    ];
    let schema = leaf.prop_recursive(6, 48, 6, move |inner| {
        let entry = (select(keywords.clone()), inner.clone());
        prop_oneof![
            1 => prop::collection::vec(inner, 0..5).prop_map(Value::from),
            3 => prop::collection::vec(entry, 0..6).prop_map(|entries| {
                entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            }),
        ]
    });
    (schema, any::<bool>())
        .prop_map(|(mut schema, rooted)| {
            if let Some(root) = schema.as_object_mut().filter(|_| rooted) {
                root.insert("type".to_owned(), json!("object"));
            }
            schema
        })
        .boxed()
}
