//! What must be provable, and what must not be, case by case.

use serde_json::{Value, json};

use super::told;
use crate::lock::Label;

fn closed(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// What one argument of a closed object takes, before and after: the label of the whole object.
#[track_caller]
fn one_way(narrow: &Value, wide: &Value) {
    let [narrow, wide] = [narrow, wide].map(|it| closed(json!({"x": it}), &["x"]));
    assert_eq!(told(&narrow, &wide), Label::Narrows, "{wide} -> {narrow}");
    assert_eq!(told(&wide, &narrow), Label::Widens, "{narrow} -> {wide}");
}

#[track_caller]
fn equal(one: &Value, other: &Value) {
    assert_eq!(told(one, other), Label::Keeps, "{other} -> {one}");
    assert_eq!(told(other, one), Label::Keeps, "{one} -> {other}");
}

#[test]
fn a_tighter_rule_narrows_and_a_looser_one_widens() {
    let variant = |tag: &str| {
        closed(
            json!({"kind": {"const": tag}, "n": {"type": "integer"}}),
            &["kind"],
        )
    };
    for (narrow, wide) in [
        (json!({"type": "integer"}), json!({"type": "number"})),
        (
            json!({"type": "string"}),
            json!({"type": ["string", "null"]}),
        ),
        (
            json!({"type": "string"}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ),
        (json!({"type": "string"}), json!({})),
        (
            json!({"type": "integer", "maximum": 50}),
            json!({"type": "integer", "maximum": 100}),
        ),
        (
            json!({"type": "integer", "minimum": 1}),
            json!({"type": "integer"}),
        ),
        (
            json!({"type": "number", "exclusiveMinimum": 0}),
            json!({"type": "number", "minimum": 0}),
        ),
        (
            json!({"type": "string", "maxLength": 10}),
            json!({"type": "string", "maxLength": 20}),
        ),
        (
            json!({"type": "string", "minLength": 1}),
            json!({"type": "string"}),
        ),
        (
            json!({"type": "string", "pattern": "^a"}),
            json!({"type": "string"}),
        ),
        (
            json!({"type": "string", "format": "uri"}),
            json!({"type": "string"}),
        ),
        (
            json!({"enum": ["a", "b"]}),
            json!({"enum": ["a", "b", "c"]}),
        ),
        (
            json!({"const": "a"}),
            json!({"type": "string", "maxLength": 3}),
        ),
        (
            json!({"enum": [1, 5]}),
            json!({"type": "integer", "minimum": 1, "maximum": 5}),
        ),
        (
            json!({"enum": [1, 2.5, "x"]}),
            json!({"type": ["number", "string"]}),
        ),
        (json!({"const": true}), json!({"type": "boolean"})),
        (
            json!({"oneOf": [{"const": "a"}]}),
            json!({"oneOf": [{"const": "a"}, {"const": "b"}]}),
        ),
        (
            json!({"oneOf": [variant("a")]}),
            json!({"oneOf": [variant("a"), variant("b")]}),
        ),
        (
            json!({"anyOf": [variant("a")]}),
            json!({"anyOf": [variant("a"), variant("b")]}),
        ),
        (
            json!({"oneOf": [closed(json!({"a": {}}), &["a"])]}),
            json!({"oneOf": [closed(json!({"a": {}}), &["a"]), closed(json!({"b": {}}), &["b"])]}),
        ),
        (
            json!({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}),
            json!({"type": ["integer", "null"]}),
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}}),
            json!({"type": "array", "items": {"type": "number"}}),
        ),
        (
            json!({"type": "array", "maxItems": 2}),
            json!({"type": "array", "maxItems": 3}),
        ),
        (
            json!({"type": "array", "maxItems": 1}),
            json!({"type": "array", "uniqueItems": true}),
        ),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "null"}}),
            json!({"type": "array", "prefixItems": [{"type": "string"}]}),
        ),
        (
            closed(json!({"a": {}}), &["a"]),
            closed(json!({"a": {}}), &[]),
        ),
        (
            closed(json!({"a": {}}), &[]),
            closed(json!({"a": {}, "b": {}}), &[]),
        ),
        (
            closed(json!({"a": {"type": "null"}}), &[]),
            json!({"type": "object"}),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            json!({"type": "object", "additionalProperties": {"type": "number"}}),
        ),
        (
            json!({"type": "object", "patternProperties": {"^a": {"const": 1}}, "additionalProperties": false}),
            json!({"type": "object", "patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": false}),
        ),
        (
            json!({"type": "object", "maxProperties": 1}),
            json!({"type": "object", "maxProperties": 2}),
        ),
        (
            json!({"allOf": [{"type": "integer"}, {"minimum": 1}]}),
            json!({"type": "integer", "minimum": 0}),
        ),
        (
            json!({"type": "string"}),
            json!({"not": {"type": "integer"}}),
        ),
        (
            json!({"type": "integer", "not": {"const": 3}}),
            json!({"type": "integer"}),
        ),
    ] {
        one_way(&narrow, &wide);
    }
}

#[test]
fn another_spelling_keeps() {
    let field = |it: Value| closed(json!({"x": it}), &[]);
    for (one, other) in [
        (
            json!({"type": ["null", "string"]}),
            json!({"type": ["string", "null"], "title": "T"}),
        ),
        (
            json!({"type": ["string", "null"]}),
            json!({"anyOf": [{"type": "null"}, {"type": "string"}]}),
        ),
        (
            json!({"type": "integer", "exclusiveMinimum": 0}),
            json!({"type": "integer", "minimum": 1}),
        ),
        (
            json!({"type": "integer", "maximum": 9.5}),
            json!({"type": "integer", "maximum": 9.0}),
        ),
        (json!({"const": 1}), json!({"enum": [1.0]})),
        (
            json!({"enum": ["a", "b"]}),
            json!({"oneOf": [{"const": "b", "description": "B"}, {"const": "a"}]}),
        ),
        (json!({"type": "boolean"}), json!({"enum": [false, true]})),
        (json!({"minLength": 0}), json!({})),
        (
            json!({"allOf": [{"type": "string"}, {"minLength": 2}]}),
            json!({"type": "string", "minLength": 2}),
        ),
        (json!(true), json!({"description": "Anything."})),
        (json!(false), json!({"not": {}})),
        (
            json!({"enum": [null, "a"]}),
            json!({"anyOf": [{"const": "a"}, {"type": "null"}]}),
        ),
    ] {
        equal(&field(one), &field(other));
    }
    equal(
        &closed(json!({"a": {}, "b": {}}), &["a", "b"]),
        &closed(json!({"b": {}, "a": {}}), &["b", "a"]),
    );
}

#[test]
fn what_is_neither_or_not_understood_widens() {
    let variants = |names: &[&str]| {
        let list: Vec<Value> = names
            .iter()
            .map(|name| closed(json!({*name: {}}), &[]))
            .collect();
        json!({"oneOf": list})
    };
    for (new, old) in [
        (json!({"pattern": "^a"}), json!({"pattern": "^[a]"})),
        (
            json!({"type": "string", "format": "uri"}),
            json!({"type": "string", "format": "email"}),
        ),
        (json!({"multipleOf": 4}), json!({"multipleOf": 2})),
        (
            json!({"type": "integer"}),
            json!({"type": "integer", "x-unit": "second"}),
        ),
        (
            json!({"$ref": "https://example.org/a"}),
            json!({"$ref": "https://example.org/b"}),
        ),
        (
            json!({"$anchor": "a", "type": "integer"}),
            json!({"$anchor": "a", "type": "number"}),
        ),
        // Both alternatives take the empty object, so that `oneOf` took it in neither.
        (variants(&["a"]), variants(&["a", "b"])),
        (
            json!({"minimum": 2}),
            json!({"type": "integer", "minimum": 1}),
        ),
    ] {
        assert_eq!(told(&new, &old), Label::Widens, "{old} -> {new}");
    }
}

/// Where a shortcut in the proof would see less than there is.
#[test]
fn what_only_looks_narrower_widens() {
    let integer = || json!({"type": "integer"});
    for (new, old) in [
        (
            json!({"type": "number", "minimum": 0.5}),
            json!({"type": "number", "minimum": 1}),
        ),
        // The pattern takes the name, and the rest is not asked.
        (
            json!({"type": "object", "patternProperties": {"^a": {"type": "string"}}, "additionalProperties": false}),
            json!({"type": "object", "properties": {"ab": integer()}}),
        ),
        (
            json!({"type": "object", "patternProperties": {"^a": {}}, "additionalProperties": false}),
            json!({"type": "object", "additionalProperties": false}),
        ),
        (
            json!({"type": "object", "properties": {"a": {}, "b": {}}, "unevaluatedProperties": false}),
            json!({"type": "object", "properties": {"a": {}}, "unevaluatedProperties": false}),
        ),
        // Each half of the rule is there, but not together.
        (
            json!({"if": {"const": 1}, "then": true, "allOf": [{"if": {"const": 2}, "then": false}]}),
            json!({"if": {"const": 1}, "then": false}),
        ),
        (
            json!({"type": "array", "prefixItems": [integer(), {"type": "string"}], "items": integer()}),
            json!({"type": "array", "items": integer()}),
        ),
        (
            json!({"type": "array", "prefixItems": [integer()]}),
            json!({"type": "array", "items": integer()}),
        ),
        // 5 is in both alternatives.
        (
            json!({"type": "integer", "maximum": 5}),
            json!({"oneOf": [{"type": "integer", "maximum": 5}, {"type": "integer", "minimum": 5}]}),
        ),
        (
            json!({"enum": [1, 6]}),
            json!({"type": "integer", "maximum": 5}),
        ),
        (
            json!({"enum": ["a", "abcd"]}),
            json!({"type": "string", "maxLength": 3}),
        ),
        (
            json!({"const": 9_007_199_254_740_993_u64}),
            json!({"const": 9_007_199_254_740_992_u64}),
        ),
    ] {
        assert_eq!(told(&new, &old), Label::Widens, "{old} -> {new}");
    }
}

#[test]
fn what_was_proved_on_an_assumption_that_failed_is_not_used() {
    let root = |z: &str, r: Value| {
        json!({
            "type": "object",
            "properties": {
                "r": r,
                "s": {"type": "object", "properties": {"t": {"type": "object", "properties": {"u": {"$ref": "#/$defs/P"}}}}},
            },
            "$defs": {
                "X": {"type": "object", "properties": {"p": {"$ref": "#/$defs/P"}, "z": {"type": z}}},
                "P": {"type": "object", "properties": {"q": {"$ref": "#/$defs/X"}}},
            },
        })
    };
    // `r` holds by its second alternative; on the way P was proved from X, which is wider.
    let old = root(
        "integer",
        json!({"anyOf": [{"$ref": "#/$defs/X"}, {"type": "object"}]}),
    );
    assert_eq!(
        told(&root("number", json!({"$ref": "#/$defs/X"})), &old),
        Label::Widens
    );
}

#[test]
fn definitions_can_be_renamed_recursive_and_deep() {
    let list = |name: &str, most: u64, step: &str| {
        let target = format!("#/$defs/{name}");
        json!({
            "type": "object",
            "properties": {"root": {"$ref": target}},
            "$defs": {name: {
                "type": "object",
                "properties": {
                    "value": {"type": "integer", "maximum": most},
                    step: {"anyOf": [{"$ref": target}, {"type": "null"}]},
                },
                "required": ["value"],
                "additionalProperties": false,
            }},
        })
    };
    let old = list("Node", 9, "next");
    equal(&list("Other", 9, "next"), &old);
    assert_eq!(told(&list("Other", 8, "next"), &old), Label::Narrows);
    assert_eq!(told(&list("Other", 10, "next"), &old), Label::Widens);
    assert_eq!(told(&list("Node", 9, "rest"), &old), Label::Widens);
    // The same, unrolled once.
    let unrolled = json!({
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/A"}},
        "$defs": {
            "A": {
                "type": "object",
                "properties": {
                    "value": {"type": "integer", "maximum": 9},
                    "next": {"anyOf": [{"$ref": "#/$defs/B"}, {"type": "null"}]},
                },
                "required": ["value"],
                "additionalProperties": false,
            },
            "B": {
                "type": "object",
                "properties": {
                    "value": {"type": "integer", "maximum": 9},
                    "next": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]},
                },
                "required": ["value"],
                "additionalProperties": false,
            },
        },
    });
    equal(&unrolled, &old);
}

#[test]
fn a_definition_that_is_only_itself_proves_nothing() {
    let round = json!({"$ref": "#/$defs/X", "$defs": {"X": {"anyOf": [{"$ref": "#/$defs/X"}]}}});
    assert_eq!(told(&round, &json!({"type": "string"})), Label::Widens);
    let other = json!({"$ref": "#/$defs/X", "$defs": {"X": {"allOf": [{"$ref": "#/$defs/X"}]}}});
    assert_eq!(told(&json!({}), &other), Label::Widens);
}

#[test]
fn a_proof_that_takes_too_long_widens_and_ends() {
    // Each level asks for the next one twice, in two spellings.
    let levels = |bound: u64| {
        let mut definitions = serde_json::Map::new();
        for level in 0..40 {
            let next = format!("#/$defs/L{}", level + 1);
            let twice = json!({"anyOf": [
                {"type": "object", "properties": {"a": {"$ref": next}}, "required": ["a"]},
                {"type": "object", "properties": {"b": {"$ref": next}}, "required": ["b"]},
            ]});
            definitions.insert(format!("L{level}"), twice);
        }
        definitions.insert(
            "L40".to_owned(),
            json!({"type": "integer", "maximum": bound}),
        );
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/L0"}}, "$defs": definitions})
    };
    assert_eq!(told(&levels(6), &levels(5)), Label::Widens);
    let deep = (0..200).fold(json!({"type": "string"}), |inner, _| json!({"not": inner}));
    assert_eq!(
        told(&json!({"type": "object"}), &json!({"allOf": [deep]})),
        Label::Widens
    );
}
