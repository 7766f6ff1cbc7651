//! Soundness against a validator, over random pairs of schemas.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::told;
use crate::lock::Label;
use crate::schema::CompiledSchema;
use crate::schema::walk::Holds;

/// Few names, values and bounds, so that two random schemas have to do with each other.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-1i64..6).prop_map(Value::from),
        prop_oneof![
            Just(json!(1.0)),
            Just(json!(0.5)),
            Just(json!(2.5)),
            Just(json!(1e300))
        ],
        "[ab]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("a|b|c|ab", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

fn object(keywords: Vec<(&'static str, Value)>) -> Value {
    keywords
        .into_iter()
        .map(|(keyword, value)| (keyword.to_owned(), value))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn types() -> impl Strategy<Value = Value> {
    let name = || {
        prop::sample::select(vec![
            "null", "boolean", "integer", "number", "string", "array", "object",
        ])
    };
    prop_oneof![
        name().prop_map(Value::from),
        prop::collection::btree_set(name(), 1..4).prop_map(|names| json!(names)),
    ]
}

fn rule() -> impl Strategy<Value = (&'static str, Value)> {
    let number = || {
        prop_oneof![
            (-1i64..6).prop_map(Value::from),
            Just(json!(0.5)),
            Just(json!(1.5)),
            Just(json!(3.0))
        ]
    };
    let small = || (0u64..4).prop_map(Value::from);
    prop_oneof![
        3 => types().prop_map(|it| ("type", it)),
        2 => prop::collection::vec(value(), 1..4).prop_map(|it| ("enum", json!(it))),
        1 => value().prop_map(|it| ("const", it)),
        1 => number().prop_map(|it| ("minimum", it)),
        1 => number().prop_map(|it| ("maximum", it)),
        1 => number().prop_map(|it| ("exclusiveMinimum", it)),
        1 => number().prop_map(|it| ("exclusiveMaximum", it)),
        1 => (1i64..3).prop_map(|it| ("multipleOf", json!(it))),
        1 => small().prop_map(|it| ("minLength", it)),
        1 => small().prop_map(|it| ("maxLength", it)),
        1 => prop::sample::select(vec!["^a", "b$"]).prop_map(|it| ("pattern", json!(it))),
        1 => small().prop_map(|it| ("minItems", it)),
        1 => small().prop_map(|it| ("maxItems", it)),
        1 => any::<bool>().prop_map(|it| ("uniqueItems", json!(it))),
        1 => small().prop_map(|it| ("minProperties", it)),
        1 => small().prop_map(|it| ("maxProperties", it)),
        1 => prop::collection::btree_set("a|b|c", 0..3).prop_map(|it| ("required", json!(it))),
        1 => Just(("dependentRequired", json!({"a": ["b"]}))),
        1 => Just(("description", json!("Some text."))),
    ]
}

/// A schema. References stand below a property or an item alone, unless `is_root`: a definition that
/// refers to itself at once means nothing.
fn schema(is_root: bool) -> BoxedStrategy<Value> {
    let reference =
        || prop::sample::select(vec!["#/$defs/X", "#/$defs/Y"]).prop_map(|it| json!({"$ref": it}));
    let flat = prop::collection::vec(rule(), 0..4).prop_map(object);
    let leaf = prop_oneof![
        8 => flat,
        1 => any::<bool>().prop_map(Value::from),
    ];
    let tree = leaf.prop_recursive(3, 16, 3, move |inner| {
        let below = || prop_oneof![6 => inner.clone(), 1 => reference()];
        let list = || prop::collection::vec(inner.clone(), 1..4).prop_map(Value::from);
        let deeper = prop_oneof![
            4 => prop::collection::btree_map("a|b|c", below(), 0..4).prop_map(|it| ("properties", json!(it))),
            2 => prop_oneof![Just(json!(false)), below()].prop_map(|it| ("additionalProperties", it)),
            2 => prop::collection::btree_map("\\^a|b\\$", below(), 1..3).prop_map(|it| ("patternProperties", json!(it))),
            2 => below().prop_map(|it| ("items", it)),
            1 => prop::collection::vec(below(), 1..3).prop_map(|it| ("prefixItems", json!(it))),
            2 => list().prop_map(|it| ("anyOf", it)),
            2 => list().prop_map(|it| ("oneOf", it)),
            1 => list().prop_map(|it| ("allOf", it)),
            1 => inner.clone().prop_map(|it| ("not", it)),
            1 => inner.clone().prop_map(|it| ("if", it)),
            1 => inner.clone().prop_map(|it| ("then", it)),
            1 => inner.clone().prop_map(|it| ("contains", it)),
            1 => inner.clone().prop_map(|it| ("propertyNames", it)),
            1 => Just(("unevaluatedProperties", json!(false))),
        ];
        (prop::collection::vec(rule(), 0..3), prop::collection::vec(deeper, 1..4))
            .prop_map(|(rules, deeper)| object(rules.into_iter().chain(deeper).collect()))
    });
    if is_root {
        prop_oneof![8 => tree, 1 => reference()].boxed()
    } else {
        tree.boxed()
    }
}

/// A change somewhere in a schema: at the place that `pick` chooses, something is taken away, put in or
/// replaced by what `from` has.
#[derive(Debug, Clone)]
struct Edit {
    pick: usize,
    kind: u8,
    from: Value,
}

fn edit() -> impl Strategy<Value = Edit> {
    (any::<usize>(), 0u8..6, schema(false)).prop_map(|(pick, kind, from)| Edit { pick, kind, from })
}

fn pointers(schema: &Value, at: &str, found: &mut Vec<String>) {
    if !(schema.is_object() || schema.is_boolean()) {
        return;
    }
    found.push(at.to_owned());
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        let step = |step: &str| format!("{at}/{keyword}/{step}");
        match (Holds::of(keyword), value) {
            (Holds::One, it) => pointers(it, &format!("{at}/{keyword}"), found),
            (Holds::List, Value::Array(list)) => {
                for (index, it) in list.iter().enumerate() {
                    pointers(it, &step(&index.to_string()), found);
                }
            }
            (Holds::Map, Value::Object(map)) if keyword != "$defs" => {
                for (name, it) in map {
                    pointers(it, &step(name), found);
                }
            }
            _ => {}
        }
    }
}

fn edited(mut schema: Value, edit: &Edit) -> Value {
    let mut places = Vec::new();
    pointers(&schema, "", &mut places);
    let place = schema
        .pointer_mut(&places[edit.pick % places.len()])
        .unwrap();
    let Value::Object(map) = place else {
        *place = edit.from.clone();
        return schema;
    };
    let keywords: Vec<String> = map.keys().filter(|it| *it != "$defs").cloned().collect();
    let keyword = keywords.get(edit.pick / 7 % keywords.len().max(1)).cloned();
    match (edit.kind, keyword) {
        (0, Some(keyword)) => drop(map.remove(&keyword)),
        (1 | 2, Some(keyword)) => match map.get_mut(&keyword) {
            Some(Value::Number(number)) => {
                let step = if edit.kind == 1 { 1.0 } else { -1.0 };
                let moved = (number.as_f64().unwrap() + step).max(if keyword.ends_with('m') {
                    -9.0
                } else {
                    0.0
                });
                if keyword != "multipleOf" && moved.fract() == 0.0 {
                    map.insert(keyword, json!(moved as i64));
                }
            }
            Some(Value::Array(list)) if list.len() > 1 => {
                drop(list.remove(edit.pick / 11 % list.len()))
            }
            _ => {}
        },
        (3, _) => map.extend(edit.from.as_object().cloned().unwrap_or_default()),
        (4, _) if !map.contains_key("$defs") => *place = edit.from.clone(),
        (4, _) => {}
        _ => {
            for (keyword, value) in edit.from.as_object().into_iter().flatten() {
                map.entry(keyword.clone()).or_insert(value.clone());
            }
        }
    }
    schema
}

fn with_definitions(schema: Value, x: &Value, y: &Value) -> Value {
    let mut root = match schema {
        Value::Object(map) => map,
        other => json!({"allOf": [other]}).as_object().cloned().unwrap(),
    };
    root.insert("$defs".to_owned(), json!({"X": x, "Y": y}));
    Value::Object(root)
}

pub(in crate::lock) fn pair() -> impl Strategy<Value = (Value, Value)> {
    let definitions = (schema(false), schema(false));
    let edits = prop::collection::vec(edit(), 0..3);
    let edit_x = prop::option::of(edit());
    prop_oneof![
        6 => (schema(true), definitions.clone(), edits, edit_x).prop_map(|(old, (x, y), edits, edit_x)| {
            let new = edits.iter().fold(old.clone(), edited);
            let new_x = edit_x.iter().fold(x.clone(), edited);
            (with_definitions(old, &x, &y), with_definitions(new, &new_x, &y))
        }),
        1 => (schema(true), schema(true), definitions).prop_map(|(old, new, (x, y))| {
            (with_definitions(old, &x, &y), with_definitions(new, &x, &y))
        }),
    ]
}

proptest! {
    #[test]
    fn a_label_is_never_wider_than_the_truth(
        (old, new) in pair(),
        values in prop::collection::vec(value(), 30),
    ) {
        let (Ok(takes_old), Ok(takes_new)) = (CompiledSchema::new(&old), CompiledSchema::new(&new)) else {
            return Ok(());
        };
        let label = told(&new, &old);
        // What the schemas themselves name is where they differ.
        let mut named = Vec::new();
        listed(&old, &mut named);
        listed(&new, &mut named);
        for value in values.iter().chain(&named) {
            let (before, now) = (takes_old.check(value).is_ok(), takes_new.check(value).is_ok());
            prop_assert!(label == Label::Widens || !now || before, "{label}, and {value} is new\nold {old}\nnew {new}");
            prop_assert!(label != Label::Keeps || now || !before, "{label}, and {value} is gone\nold {old}\nnew {new}");
        }
    }

    #[test]
    fn every_schema_keeps_what_it_takes(old in schema(true), x in schema(false), y in schema(false)) {
        let old = with_definitions(old, &x, &y);
        prop_assert_eq!(told(&old, &old), Label::Keeps);
    }
}

/// The values that a schema lists, and what is made of them by one more step.
fn listed(schema: &Value, found: &mut Vec<Value>) {
    match schema {
        Value::Object(map) => {
            for (keyword, value) in map {
                match (keyword.as_str(), value) {
                    ("enum", Value::Array(list)) => found.extend(list.iter().cloned()),
                    ("const", value) => found.push(value.clone()),
                    (_, value) => listed(value, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|it| listed(it, found)),
        _ => {}
    }
}
