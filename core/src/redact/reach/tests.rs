use std::collections::BTreeMap;

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Reach, can_match, reach};
use crate::redact::RedactionPath;
use crate::schema::{CompiledSchema, arguments_of, result_of};

fn told(path: &str, schema: &Value) -> Reach {
    reach(&RedactionPath::parse(path).unwrap(), schema)
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    status: u16,
    headers: BTreeMap<String, String>,
    pages: Vec<Page>,
    pair: (Option<Page>, u8),
    body: Value,
    by_number: BTreeMap<i32, Page>,
    kind: Kind,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Page {
    #[serde(rename = "Page-Title")]
    title: String,
    next: Option<Box<Page>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Kind {
    Plain { text: String },
    Coded { code: u8 },
}

#[test]
fn of_a_type_what_it_names_is_told_and_a_misspelt_name_is_not() {
    use Reach::{Never, Told, Unsaid};
    let arguments = arguments_of::<Answer>().unwrap();
    let result = result_of::<Answer>().unwrap().unwrap();
    for (path, in_arguments, in_result) in [
        ("$", Told, Told),
        ("$[*]", Told, Told),
        ("$.status", Told, Told),
        ("$.STATUS", Told, Told),
        ("$.headers.authorization", Told, Told),
        ("$.pages[*]['page-title']", Told, Told),
        ("$.pages[7].next.next.next['Page-Title']", Told, Told),
        ("$.pair[0].next", Told, Told),
        ("$.pair[1]", Told, Told),
        ("$.body.anything[0].at.all", Told, Told),
        ("$.by_number['-7'].next", Told, Told),
        ("$.by_number[*].next", Told, Told),
        ("$.kind.text", Told, Told),
        ("$.kind.code", Told, Told),
        ("$[*][*].next", Told, Told),
        // Misspelt: what a result has is open.
        ("$.statsu", Never, Unsaid),
        ("$.headers.authorization.x", Never, Unsaid),
        ("$.pages[*].page_title", Never, Unsaid),
        ("$.pages[7].next.nxt['Page-Title']", Never, Unsaid),
        ("$.kind.txt", Never, Unsaid),
        // Of another kind; in a result it could be of `Pages`.
        ("$[0]", Never, Never),
        ("$.pages.next", Never, Unsaid),
        ("$.pair[2]", Never, Unsaid),
        ("$.pair[1].next", Never, Unsaid),
        ("$.by_number.next", Never, Unsaid),
    ] {
        assert_eq!(
            told(path, &arguments),
            in_arguments,
            "{path} in the arguments {arguments:#}"
        );
        assert_eq!(
            told(path, &result),
            in_result,
            "{path} in the result {result:#}"
        );
    }
}

#[test]
fn each_keyword_has_its_say() {
    use Reach::{Never, Told, Unsaid};
    let cyclic = json!({"$ref": "#/$defs/a", "$defs": {
        "a": {"anyOf": [{"$ref": "#/$defs/b"}, {"properties": {"x": {}}, "additionalProperties": false}]},
        "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"properties": {"y": {}}, "additionalProperties": false}]},
        "c": {"$ref": "#/$defs/c"},
    }});
    let joined = json!({
        "type": "object", "properties": {"own": {}}, "unevaluatedProperties": false,
        "oneOf": [{"properties": {"one": {}}}, {"$ref": "#/$defs/two"}],
        "$defs": {"two": {"allOf": [{"properties": {"two": {}}}]}},
    });
    for (schema, path, expected) in [
        (json!(true), "$.a[0]", Told),
        (json!({}), "$.a[0]", Told),
        (json!({"type": "object"}), "$.a", Told),
        (json!({"type": "object"}), "$[0]", Never),
        (json!(false), "$", Never),
        (json!({"not": {}}), "$", Never),
        (json!({"properties": {"a": {"not": {}}}}), "$.a.b", Unsaid),
        (json!({"properties": {"1": false}}), "$['1']", Never),
        (
            json!({"properties": {"a": {"type": "string"}}}),
            "$.a.b",
            Unsaid,
        ),
        (
            json!({"properties": {"a": {"type": ["string", "object"]}}}),
            "$.a.b",
            Told,
        ),
        (
            json!({"properties": {"a": {}}, "additionalProperties": true}),
            "$.b",
            Told,
        ),
        (
            json!({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}),
            "$.b",
            Told,
        ),
        (
            json!({"additionalProperties": {"type": "string"}}),
            "$.b.c",
            Never,
        ),
        (
            json!({"additionalProperties": {"type": "string"}}),
            "$[*]",
            Told,
        ),
        (
            json!({"patternProperties": {"^x-": {}}, "additionalProperties": false}),
            "$['X-Key']",
            Told,
        ),
        (
            json!({"patternProperties": {"^x-": {}}, "additionalProperties": false}),
            "$.key",
            Never,
        ),
        (
            json!({"type": "object", "patternProperties": {"^x-": {"type": "null"}}, "additionalProperties": false}),
            "$[*].a",
            Never,
        ),
        (
            json!({"type": "array", "items": {"const": 1}}),
            "$[5]",
            Told,
        ),
        (
            json!({"type": "array", "items": {"const": 1}}),
            "$[5].a",
            Never,
        ),
        (
            json!({"type": "array", "items": {}, "maxItems": 5}),
            "$[5]",
            Never,
        ),
        (
            json!({"type": "array", "items": {}, "maxItems": 5}),
            "$[4]",
            Told,
        ),
        (
            json!({"type": "array", "items": {}, "maxItems": 0}),
            "$[*]",
            Never,
        ),
        (
            json!({"type": "array", "prefixItems": [{}, {}], "items": false}),
            "$[2]",
            Never,
        ),
        (
            json!({"type": "array", "prefixItems": [{}, {}], "maxItems": 1}),
            "$[1]",
            Never,
        ),
        (
            json!({"type": "array", "prefixItems": [{}, {}]}),
            "$[2]",
            Unsaid,
        ),
        (
            json!({"type": "array", "prefixItems": [{"type": "null"}]}),
            "$[0].a",
            Never,
        ),
        (json!({"const": {"a": [1]}}), "$.A[0]", Told),
        (json!({"const": {"a": [1]}}), "$.a[1]", Never),
        (json!({"enum": [{"a": 1}, {"b": 1}]}), "$.b", Told),
        (json!({"enum": [{"a": 1}, {"b": 1}]}), "$.c", Never),
        (
            json!({"anyOf": [{"type": "null"}, {"type": "object"}]}),
            "$.a",
            Told,
        ),
        (
            json!({"anyOf": [{"type": "null"}, {"type": "array"}]}),
            "$.a",
            Never,
        ),
        (json!({"oneOf": []}), "$", Never),
        (
            json!({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}),
            "$.a",
            Told,
        ),
        (
            json!({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}),
            "$.c",
            Unsaid,
        ),
        (
            json!({"allOf": [{"properties": {"a": {}}}, {"additionalProperties": false}]}),
            "$.a",
            Never,
        ),
        (
            json!({"type": "string", "anyOf": [{}, {"properties": {"a": {}}}]}),
            "$.a",
            Never,
        ),
        (json!({"$ref": "#/$defs/none"}), "$", Never),
        (
            json!({"properties": {"a": {"$ref": "#"}}, "additionalProperties": false}),
            "$.a.a.a.a",
            Told,
        ),
        (
            json!({"properties": {"a": {"$ref": "#"}}, "additionalProperties": false}),
            "$.a.a.b",
            Never,
        ),
        // What is found of one on the way around to itself is not all that there is.
        (
            json!({"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}], "$defs": cyclic["$defs"].clone()}),
            "$.x",
            Told,
        ),
        (cyclic.clone(), "$.x", Told),
        (cyclic.clone(), "$.y", Told),
        (cyclic.clone(), "$.z", Never),
        (
            json!({"$ref": "#/$defs/c", "$defs": cyclic["$defs"].clone()}),
            "$",
            Never,
        ),
        (joined.clone(), "$.own", Told),
        (joined.clone(), "$.one", Told),
        (joined.clone(), "$.TWO.more", Told),
        (joined.clone(), "$.three", Never),
        (joined, "$[*]", Told),
    ] {
        assert!(
            CompiledSchema::new(&schema).is_ok() || path == "$",
            "{schema}"
        );
        assert_eq!(told(path, &schema), expected, "{path} in {schema}");
    }
}

#[test]
fn it_ends_with_every_schema() {
    // Each step could go on in many ways, over and over.
    let many: Vec<_> = (0..12)
        .map(|n| json!({"$ref": format!("#/$defs/d{n}")}))
        .collect();
    let definition = json!({"anyOf": many, "additionalProperties": {"anyOf": many}});
    let definitions: Map<_, _> = (0..12)
        .map(|n| (format!("d{n}"), definition.clone()))
        .collect();
    let schema = json!({"anyOf": many, "$defs": definitions});
    assert_eq!(
        told(&format!("${}", "[*]".repeat(32)), &schema),
        Reach::Never
    );

    let link = |n: usize| {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        (
            format!("d{n}"),
            json!({"anyOf": [{"allOf": [next]}, {"type": "null"}]}),
        )
    };
    let chain: Map<_, _> = (0..3000).map(link).collect();
    let schema = json!({"$ref": "#/$defs/d0", "$defs": chain});
    // So far in that it is not known; it is not said that nothing is there.
    assert_eq!(told("$.a", &schema), Reach::Told);
}

/// A schema and some values that it takes.
type Sample = (Value, Vec<Value>);

/// Schemas made together with values of theirs, over the keywords of the normal form.
fn samples() -> impl Strategy<Value = Sample> {
    let leaf = prop_oneof![
        Just((json!({"type": "string"}), vec![json!("text")])),
        Just((
            json!({"type": ["integer", "null"]}),
            vec![json!(7), json!(null)]
        )),
        Just((
            json!({"enum": ["a", {"b": [1]}]}),
            vec![json!("a"), json!({"b": [1]})]
        )),
        Just((
            json!({"const": {"a": {"b": 1}}}),
            vec![json!({"a": {"b": 1}})]
        )),
        Just((json!({}), vec![json!({"a": [{"b": 1}]}), json!([1])])),
        Just((
            json!({"$ref": "#/$defs/tree"}),
            vec![json!({"a": [{"a": [], "b": 1}], "b": {"a": []}})]
        )),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let members = || prop::collection::btree_map("[abAB]|x-y", inner.clone(), 0..4);
        let further = prop::option::of(inner.clone());
        prop_oneof![
            2 => (members(), any::<bool>()).prop_map(|(members, is_closed)| object(members, is_closed)),
            1 => (members(), further).prop_map(|(members, further)| map(members, further)),
            1 => (prop::collection::vec(inner.clone(), 1..3), any::<bool>())
                .prop_map(|(elements, is_tuple)| if is_tuple { tuple(elements) } else { array(elements) }),
            2 => (prop::collection::vec(inner.clone(), 1..4), any::<bool>()).prop_map(|(all, _)| union(all)),
            1 => (inner.clone(), members()).prop_map(|((schema, values), members)| {
                let (other, _) = object(members, false);
                joined(schema, values, other)
            }),
        ]
    })
}

fn first(sample: &Sample) -> Value {
    sample.1.first().cloned().unwrap_or_default()
}

fn object(members: BTreeMap<String, Sample>, is_closed: bool) -> Sample {
    let schemas: Map<_, _> = members
        .iter()
        .map(|(name, (schema, _))| (name.clone(), schema.clone()))
        .collect();
    let value: Map<_, _> = members
        .iter()
        .map(|(name, one)| (name.clone(), first(one)))
        .collect();
    let mut schema = json!({"type": "object", "properties": schemas});
    let mut values = vec![json!({}), json!(value)];
    if is_closed {
        schema["additionalProperties"] = json!(false);
    } else {
        values.push(json!({"other": {"than": ["named"]}}));
    }
    (schema, values)
}

fn map(members: BTreeMap<String, Sample>, further: Option<Sample>) -> Sample {
    let (mut schema, mut values) = object(members, true);
    schema["patternProperties"] = json!({"^p[0-9]$": {"type": "array"}});
    values.push(json!({"p1": [{"q": 1}]}));
    if let Some(further) = further {
        schema["additionalProperties"] = further.0.clone();
        values.extend(further.1.iter().map(|value| json!({"Further": value})));
    }
    (schema, values)
}

fn array(mut elements: Vec<Sample>) -> Sample {
    let (schema, values) = elements.remove(0);
    (
        json!({"type": "array", "items": schema}),
        vec![json!([]), json!(values)],
    )
}

fn tuple(elements: Vec<Sample>) -> Sample {
    let schemas: Vec<_> = elements.iter().map(|(schema, _)| schema.clone()).collect();
    let value: Vec<_> = elements.iter().map(first).collect();
    (
        json!({"type": "array", "prefixItems": schemas, "maxItems": value.len()}),
        vec![json!(value)],
    )
}

fn union(all: Vec<Sample>) -> Sample {
    let schemas: Vec<_> = all.iter().map(|(schema, _)| schema.clone()).collect();
    (
        json!({"anyOf": schemas}),
        all.into_iter().flat_map(|(_, values)| values).collect(),
    )
}

fn joined(schema: Value, values: Vec<Value>, other: Value) -> Sample {
    (json!({"allOf": [schema, {"anyOf": [other, {}]}]}), values)
}

/// Each path that finds something in the value, in some of its spellings.
fn ways(value: &Value, way: &str, found: &mut Vec<String>) {
    found.push(way.to_owned());
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                let swapped: String = name
                    .chars()
                    .map(|c| {
                        if c.is_ascii_lowercase() {
                            c.to_ascii_uppercase()
                        } else {
                            c.to_ascii_lowercase()
                        }
                    })
                    .collect();
                for step in [
                    format!("['{name}']"),
                    format!("['{swapped}']"),
                    "[*]".to_owned(),
                ] {
                    ways(inner, &format!("{way}{step}"), found);
                }
            }
        }
        Value::Array(elements) => {
            for (index, inner) in elements.iter().enumerate() {
                ways(inner, &format!("{way}[{index}]"), found);
                ways(inner, &format!("{way}[*]"), found);
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_path_that_finds_something_in_a_value_can_match_in_its_schema((mut schema, values) in samples()) {
        schema["$defs"] = json!({"tree": {
            "type": "object", "additionalProperties": false,
            "properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/tree"}}, "b": {}},
        }});
        let compiled = CompiledSchema::new(&schema).unwrap();
        for value in values.iter().filter(|value| compiled.check(value).is_ok()) {
            let mut found = Vec::new();
            ways(value, "$", &mut found);
            let every = found.len() / 30 + 1;
            for way in found.iter().step_by(every) {
                let path = RedactionPath::parse(way).unwrap();
                prop_assert!(can_match(&path, &schema), "{} in {} of {}", way, value, schema);
            }
        }
    }
}
