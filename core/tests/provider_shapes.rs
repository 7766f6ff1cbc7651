//! The five shapes of a handful of tools, and the laws of every shape.
//!
//! The goldens stand in `golden/provider`; `UPDATE_GOLDEN=1` writes them anew from `tools.json`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)] // a test says where it fails

#[path = "provider_shapes/sample.rs"]
mod sample;
#[path = "provider_shapes/schemas.rs"]
mod schemas;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use actum::provider::{Provider, check, check_list, render};
use actum::{Hints, ToolDescriptor};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use sample::Sampler;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/provider")
        .join(name)
}

fn tools() -> Vec<ToolDescriptor> {
    serde_json::from_str(&fs::read_to_string(golden("tools.json")).unwrap()).unwrap()
}

fn described(parameters_schema: Value) -> ToolDescriptor {
    ToolDescriptor {
        name: "a-tool".into(),
        description: "Does.".into(),
        parameters_schema,
        approval_required: false,
        selection_token_required: false,
        idempotency_key_required: false,
        title: None,
        output_schema: None,
        hints: Hints::NONE,
    }
}

/// The schema of the arguments in a shape, as JSON Schema.
fn arguments(provider: Provider, tool: &Value) -> Value {
    match provider {
        Provider::OpenAiChat => tool["function"]["parameters"].clone(),
        Provider::OpenAiResponses => tool["parameters"].clone(),
        Provider::Anthropic => tool["input_schema"].clone(),
        Provider::Mcp => tool["inputSchema"].clone(),
        Provider::Gemini => match tool.get("parameters") {
            Some(parameters) => from_gemini(parameters),
            None => json!({"type": "object"}),
        },
    }
}

/// What a schema of Gemini's says, in JSON Schema.
fn from_gemini(schema: &Value) -> Value {
    if let Some(forms) = schema["anyOf"].as_array() {
        return json!({"anyOf": forms.iter().map(from_gemini).collect::<Vec<_>>()});
    }
    let mut said = serde_json::Map::new();
    for (key, value) in schema.as_object().unwrap() {
        let value = match key.as_str() {
            "type" => json!(value.as_str().unwrap().to_lowercase()),
            "items" => from_gemini(value),
            "properties" => value
                .as_object()
                .unwrap()
                .iter()
                .map(|(name, inner)| (name.clone(), from_gemini(inner)))
                .collect(),
            "minItems" | "maxItems" | "minLength" | "maxLength" => {
                json!(value.as_str().unwrap().parse::<u64>().unwrap())
            }
            "enum" | "required" | "minimum" | "maximum" | "pattern" => value.clone(),
            _ => continue,
        };
        said.insert(key.clone(), value);
    }
    if schema["nullable"] == true {
        return json!({"anyOf": [said, {"type": "null"}]});
    }
    Value::Object(said)
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::draft202012::options().build(schema).unwrap()
}

#[test]
fn the_shapes_are_the_golden_ones() {
    for provider in Provider::ALL {
        let shapes: BTreeMap<_, _> = tools()
            .into_iter()
            .map(|tool| {
                let shape = match render(provider, &tool, false) {
                    Ok(shape) => shape,
                    Err(refused) => json!({"inexpressible": refused.to_string()}),
                };
                (tool.name, shape)
            })
            .collect();
        let written = serde_json::to_string_pretty(&shapes).unwrap() + "\n";
        let path = golden(&format!("{provider}.json"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, &written).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap();
        assert!(
            kept == written,
            "{} differs; look at the change, then run with UPDATE_GOLDEN=1. Now:\n{written}",
            path.display()
        );
    }
}

#[test]
fn one_tool_that_cannot_be_said_takes_no_other_with_it() {
    let tools = tools();
    let (said, refused): (Vec<_>, Vec<_>) = tools
        .iter()
        .map(|tool| render(Provider::Gemini, tool, false))
        .partition(Result::is_ok);
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].as_ref().unwrap_err().tool, "label-set");
    let said: Vec<_> = said.into_iter().map(Result::unwrap).collect();
    assert_eq!(said.len(), tools.len() - 1);
    assert_eq!(check_list(Provider::Gemini, &said), []);
}

#[test]
fn no_shape_of_gemini_has_a_keyword_that_it_lacks() {
    let refused = [
        "$ref",
        "$defs",
        "$schema",
        "const",
        "oneOf",
        "allOf",
        "prefixItems",
        "exclusiveMinimum",
        "patternProperties",
        "additionalProperties",
    ];
    for tool in tools() {
        let Ok(shape) = render(Provider::Gemini, &tool, false) else {
            continue;
        };
        let text = shape.to_string();
        for keyword in refused {
            assert!(
                !text.contains(&format!("\"{keyword}\":")),
                "{keyword}: {text}"
            );
        }
    }
}

/// What a handler author writes.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)] // only its schema is looked at
struct Payload {
    /// A text.
    name: String,
    count: Option<u32>,
    inner: Option<Inner>,
    list: Vec<Inner>,
    pair: (f64, f64),
    kind: Kind,
    any: Value,
    by_name: BTreeMap<String, Inner>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Inner {
    next: Option<Box<Inner>>,
    big: u64,
    small: std::num::NonZeroU8,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
enum Kind {
    /// The one.
    One,
    Two,
    Three {
        at: u8,
    },
}

#[test]
fn an_option_may_be_absent_and_null_in_every_shape() {
    let schema = actum::schema::arguments_of::<Payload>().unwrap();
    let value = json!({
        "name": "n", "list": [{"big": 1, "small": 2}], "pair": [1.5, 2], "kind": "One",
        "any": {"a": [1]}, "by_name": {"x": {"big": 1, "small": 1, "next": null}}
    });
    let exact = validator(&schema);
    for provider in Provider::ALL {
        let tool = render(provider, &described(schema.clone()), false).unwrap();
        let shape = validator(&arguments(provider, &tool));
        for (count, inner) in [(None, None), (Some(json!(null)), Some(json!(null)))] {
            let mut value = value.clone();
            for (name, given) in [("count", count), ("inner", inner)] {
                if let Some(given) = given {
                    value[name] = given;
                }
            }
            assert!(exact.is_valid(&value));
            assert!(shape.is_valid(&value), "{provider}: {value}");
        }
    }
}

/// How many lists stand directly in one another.
fn lists_in_lists(value: &Value) -> usize {
    let deepest = |values: &mut dyn Iterator<Item = &Value>| values.map(lists_in_lists).max();
    match value {
        Value::Array(items) => 1 + deepest(&mut items.iter()).unwrap_or(0),
        Value::Object(members) => deepest(&mut members.values()).unwrap_or(0),
        _ => 0,
    }
}

proptest! {
    #[test]
    fn a_schema_in_normal_form_is_rendered_within_the_rules_or_refused_in_words(
        schema in schemas::root(), approval in any::<bool>()
    ) {
        for provider in Provider::ALL {
            match render(provider, &described(schema.clone()), approval) {
                Ok(tool) => prop_assert_eq!(check(provider, &tool), []),
                Err(refused) => {
                    prop_assert!(!refused.faults.is_empty());
                    // JSON Schema providers take everything in normal form.
                    prop_assert_eq!(provider, Provider::Gemini, "{}", refused);
                }
            }
        }
    }

    #[test]
    fn any_json_at_all_is_rendered_within_the_rules_or_refused(
        parameters in schemas::wild(), output in proptest::option::of(schemas::wild())
    ) {
        let tool = ToolDescriptor { output_schema: output, ..described(parameters) };
        for provider in Provider::ALL {
            match render(provider, &tool, false) {
                Ok(shape) => prop_assert_eq!(check(provider, &shape), []),
                Err(refused) => prop_assert!(!refused.faults.is_empty()),
            }
        }
    }

    #[test]
    fn any_json_at_all_is_checked(tool in schemas::wild()) {
        for provider in Provider::ALL {
            prop_assert!(!check(provider, &tool).is_empty());
        }
    }

    #[test]
    fn what_the_kernel_takes_can_be_said_in_every_shape(
        schema in prop_oneof![3 => schemas::root(), 1 => schemas::strictable()], seed in any::<u64>()
    ) {
        let exact = validator(&schema);
        let values: Vec<_> = Sampler::new(seed)
            .many(&schema, true)
            .into_iter()
            .filter(|value| exact.is_valid(value))
            .collect();
        for provider in Provider::ALL {
            let Ok(tool) = render(provider, &described(schema.clone()), false) else {
                continue;
            };
            let shape = arguments(provider, &tool);
            let shaped = validator(&shape);
            for value in &values {
                // Where anything may stand, Gemini is told of lists of lists and of no deeper ones.
                if provider == Provider::Gemini && lists_in_lists(value) > 2 {
                    continue;
                }
                prop_assert!(shaped.is_valid(value), "{}: {} is not sayable in {:#}", provider, value, shape);
            }
        }
    }

    #[test]
    fn what_a_strict_shape_takes_the_kernel_takes(schema in schemas::strictable(), seed in any::<u64>()) {
        let tool = render(Provider::OpenAiResponses, &described(schema.clone()), false).unwrap();
        if tool["strict"] != true {
            return Ok(());
        }
        let shape = &tool["parameters"];
        let (exact, strict) = (validator(&schema), validator(shape));
        let mut sampler = Sampler::new(seed);
        for value in sampler.many(shape, false).into_iter().chain(sampler.many(&schema, false)) {
            if strict.is_valid(&value) {
                prop_assert!(exact.is_valid(&value), "{} fits {:#}", value, shape);
            }
        }
    }
}

/// The laws above are tried on enough schemas that are not refused, and on values that fit.
#[test]
fn the_drawn_schemas_are_worth_drawing() {
    let mut runner = TestRunner::deterministic();
    let draw = |runner: &mut TestRunner, schemas: BoxedStrategy<Value>| -> Vec<_> {
        (0..100)
            .map(|_| schemas.new_tree(runner).unwrap().current())
            .collect()
    };
    let strict = draw(&mut runner, schemas::strictable())
        .into_iter()
        .filter(|schema| {
            let tool =
                render(Provider::OpenAiResponses, &described(schema.clone()), false).unwrap();
            let shape = validator(&tool["parameters"]);
            let fits = |value: &Value| shape.is_valid(value);
            tool["strict"] == true
                && Sampler::new(7)
                    .many(&tool["parameters"], false)
                    .iter()
                    .any(fits)
        })
        .count();
    assert!(
        strict >= 25,
        "{strict} of 100 have a strict form with a value that fits"
    );
    let (mut said, mut valued) = (0, 0);
    for schema in draw(&mut runner, schemas::root()) {
        let exact = validator(&schema);
        let values = Sampler::new(7).many(&schema, true);
        valued += usize::from(values.iter().any(|value| exact.is_valid(value)));
        said += usize::from(render(Provider::Gemini, &described(schema), false).is_ok());
    }
    assert!(said >= 75, "{said} of 100 can be told to Gemini");
    assert!(valued >= 50, "{valued} of 100 have a value that fits");
}
