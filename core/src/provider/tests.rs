mod breaches;
mod gemini_words;
mod strict;

use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::Hints;

fn described(parameters_schema: Value) -> ToolDescriptor {
    ToolDescriptor {
        name: "mail-send".into(),
        description: "Send a message.".into(),
        parameters_schema,
        approval_required: false,
        selection_token_required: false,
        idempotency_key_required: false,
        title: None,
        output_schema: None,
        hints: Hints::NONE,
    }
}

/// A payload that every provider can say, `strict` too.
fn plain() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["to", "tags"],
        "properties": {
            "to": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "kind": {"type": ["string", "null"], "enum": ["a", "b", null]}
        }
    })
}

fn rendered(provider: Provider, schema: Value) -> Value {
    render(provider, &described(schema), false).unwrap()
}

fn closed(properties: Value, required: Value) -> Value {
    json!({
        "type": "object", "properties": properties, "required": required,
        "additionalProperties": false
    })
}

/// Where the schema of the arguments stands in a shape.
fn schema_at(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAiChat => "/function/parameters",
        Provider::OpenAiResponses | Provider::Gemini => "/parameters",
        Provider::Anthropic => "/input_schema",
        Provider::Mcp => "/inputSchema",
    }
}

#[test]
fn names_of_providers_are_read_back_and_others_are_told_the_list() {
    for provider in Provider::ALL {
        assert_eq!(provider.as_str().parse(), Ok(provider));
    }
    let told = "OpenAI".parse::<Provider>().unwrap_err().to_string();
    for provider in Provider::ALL {
        assert!(told.contains(provider.as_str()), "{told}");
    }
}

#[test]
fn every_rule_has_a_name_of_its_own_a_sentence_and_a_source() {
    for provider in Provider::ALL {
        let ids: BTreeSet<_> = provider.rules().iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), provider.rules().len());
        for rule in provider.rules() {
            assert!(rule.says.ends_with('.'), "{}", rule.id);
            assert!(rule.source.contains("https://"), "{}", rule.id);
        }
    }
}

#[test]
fn a_list_has_each_name_once_and_not_too_many() {
    for provider in Provider::ALL {
        let tools: Vec<_> = (0..129)
            .map(|n| {
                let mut tool = described(plain());
                tool.name = format!("tool-{n}");
                render(provider, &tool, false).unwrap()
            })
            .collect();
        assert_eq!(check_list(provider, &tools[..128]), [], "{provider}");
        let too_many = check_list(provider, &tools);
        let limited = matches!(
            provider,
            Provider::OpenAiChat | Provider::OpenAiResponses | Provider::Gemini
        );
        assert_eq!(too_many.len(), usize::from(limited), "{provider}");

        let twice = check_list(provider, &[tools[0].clone(), tools[0].clone()]);
        assert_eq!(twice.len(), 1, "{provider}");
        assert!(twice[0].problem.contains("`tool-0`"), "{:?}", twice[0]);
        let known = |rule| provider.rules().iter().any(|known| known.id == rule);
        assert!(twice.iter().chain(&too_many).all(|fault| known(fault.rule)));
    }
}

#[test]
fn names_of_64_characters_fit_everywhere_and_longer_ones_where_they_are_taken() {
    let named = |name: &str| ToolDescriptor {
        name: name.to_owned(),
        ..described(plain())
    };
    let says = |provider, name: &str| render(provider, &named(name), true).is_ok();
    for provider in Provider::ALL {
        assert!(says(provider, &"a".repeat(64)), "{provider}");
        assert!(!says(provider, &"a".repeat(129)), "{provider}");
        assert!(!says(provider, ""), "{provider}");
        assert!(!says(provider, "a:b"), "{provider}");
        for length in [65, 128] {
            let long = says(provider, &"a".repeat(length));
            assert_eq!(long, provider == Provider::Mcp, "{provider}, {length}");
        }
        // A leading digit is a fault at Gemini alone.
        assert_eq!(says(provider, "9lives"), provider != Provider::Gemini);
        for name in ["mail-read--one", "mail-read--two"] {
            assert!(says(provider, name));
        }
    }
}

#[test]
fn a_tool_that_waits_for_approval_says_so_at_the_end() {
    for provider in Provider::ALL {
        let tool = render(provider, &described(plain()), true).unwrap();
        let told = tool
            .pointer("/description")
            .or_else(|| tool.pointer("/function/description"));
        assert_eq!(
            told.unwrap(),
            "Send a message. (requires owner approval)",
            "{provider}"
        );
        let always = ToolDescriptor {
            approval_required: true,
            ..described(plain())
        };
        assert_eq!(render(provider, &always, false), Ok(tool), "{provider}");
        let long = ToolDescriptor {
            description: "x".repeat(1024),
            ..described(plain())
        };
        assert!(render(provider, &long, true).is_ok(), "{provider}");
    }
}

#[test]
fn without_arguments_every_shape_takes_the_empty_object() {
    for provider in Provider::ALL {
        let tool = rendered(provider, crate::schema::no_arguments());
        let schema = tool.pointer(schema_at(provider));
        match provider {
            Provider::Gemini => assert_eq!(schema, None),
            _ => assert_eq!(schema.unwrap()["properties"], json!({}), "{provider}"),
        }
    }
    let tool = rendered(Provider::OpenAiResponses, crate::schema::no_arguments());
    assert_eq!(tool["strict"], true);
}

#[test]
fn mcp_wraps_a_result_that_is_no_object_in_schema_and_value_alike() {
    let with = |output_schema: Option<Value>| ToolDescriptor {
        output_schema,
        ..described(plain())
    };
    let object = with(Some(json!({"type": "object", "properties": {"a": {}}})));
    let list = with(Some(json!({
        "type": "array", "items": {"anyOf": [{"$ref": "#"}, {"$ref": "#/$defs/A"}]},
        "$defs": {"A": {"type": "string"}}
    })));
    let silent = with(None);
    let shape = |tool: &ToolDescriptor| render(Provider::Mcp, tool, false).unwrap();

    assert_eq!(
        shape(&object)["outputSchema"],
        *object.output_schema.as_ref().unwrap()
    );
    assert_eq!(structured(&object, json!({"a": 1})), json!({"a": 1}));
    let wrapped = shape(&list)["outputSchema"].clone();
    assert_eq!(
        structured(&list, json!([["x"]])),
        json!({"result": [["x"]]})
    );
    let validator = jsonschema::draft202012::new(&wrapped).unwrap();
    assert!(validator.is_valid(&json!({"result": [["x"], "y"]})));
    assert!(!validator.is_valid(&json!({"result": [[1]]})));
    assert!(!validator.is_valid(&json!([])));
    assert_eq!(shape(&silent).get("outputSchema"), None);
    assert_eq!(structured(&silent, json!(null)), json!({"result": null}));
    assert_eq!(structured(&silent, json!({"a": 1})), json!({"a": 1}));
}

#[test]
fn mcp_is_told_the_hints_that_hold_and_no_other() {
    let tool = ToolDescriptor {
        title: Some("Send".into()),
        hints: Hints {
            read_only: true,
            open_world: true,
            ..Hints::NONE
        },
        ..described(plain())
    };
    let shape = render(Provider::Mcp, &tool, false).unwrap();
    assert_eq!(shape["title"], "Send");
    assert_eq!(
        shape["annotations"],
        json!({"title": "Send", "readOnlyHint": true, "openWorldHint": true})
    );
    assert_eq!(rendered(Provider::Mcp, plain()).get("annotations"), None);
}

#[test]
fn what_cannot_be_said_names_the_tool_the_place_and_the_source() {
    let map =
        json!({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}});
    let told = render(Provider::Gemini, &described(map.clone()), false)
        .unwrap_err()
        .to_string();
    for part in [
        "`mail-send`",
        "gemini",
        "/parameters",
        "put a map into a field",
        "https://",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    for provider in Provider::ALL {
        let fits = render(provider, &described(map.clone()), false).is_ok();
        assert_eq!(fits, provider != Provider::Gemini, "{provider}");
    }
}

#[test]
fn any_json_for_a_schema_is_rendered_or_refused() {
    let mut deep = json!({"type": "string"});
    let mut list = json!([]);
    for _ in 0..200 {
        deep = json!({"type": "object", "properties": {"a": deep}});
        list = json!([list]);
    }
    let wide: Vec<_> = (0..30_000).collect();
    let chain: serde_json::Map<_, _> = (0..30)
        .map(|n| {
            let next = json!({"$ref": format!("#/$defs/D{}", n + 1)});
            (
                format!("D{n}"),
                closed(json!({"a": next, "b": next}), json!(["a", "b"])),
            )
        })
        .chain([("D30".to_owned(), json!({"type": "string"}))])
        .collect();
    let mut doubling = closed(json!({"a": {"$ref": "#/$defs/D0"}}), json!(["a"]));
    doubling["$defs"] = Value::Object(chain);
    for schema in [
        json!(null),
        json!(true),
        json!("object"),
        json!([]),
        json!({}),
        json!({"type": "string"}),
        json!({"type": "object", "properties": 1, "required": {}, "oneOf": 7, "allOf": {}}),
        json!({"type": ["object"], "properties": {"a": true, "b": false, "c": null, "d": 3}}),
        json!({"type": "object", "properties": {"a": {"$ref": 1}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}}),
        json!({"type": "object", "$ref": "#", "properties": {}}),
        json!({"type": "object", "properties": {"a": {"allOf": [{"$ref": "#/properties/a"}]}}}),
        json!({"type": "object", "properties": {"a": {"type": "object", "allOf": [{"$ref": "#/properties/a"}]}}}),
        json!({"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}]}}}),
        json!({"type": "object", "properties": {"a": {"enum": [], "const": [1]}}}),
        json!({"type": "object", "properties": {"a": {"type": "whatever", "items": [1]}}}),
        json!({"type": "object", "properties": {"a": {"enum": wide}}}),
        doubling,
        deep,
        list,
    ] {
        for provider in Provider::ALL {
            match render(provider, &described(schema.clone()), true) {
                Ok(tool) => assert_eq!(check(provider, &tool), [], "{provider}"),
                Err(refused) => assert!(!refused.faults.is_empty()),
            }
        }
    }
}

#[test]
fn what_waits_for_approval_and_what_comes_of_it_both_fit_the_output_schema_of_mcp() {
    let referring = json!({
        "type": "object",
        "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}, "unit": {"$ref": "#/$defs/Unit"}},
        "required": ["unit"],
        "additionalProperties": false,
        "$defs": {"Unit": {"enum": ["m", "s"]}},
    });
    for (schema, fits, does_not) in [
        (
            referring,
            json!({"unit": "m", "next": {"unit": "s"}}),
            json!({"unit": "m", "next": {}}),
        ),
        (json!({"type": "integer"}), json!(7), json!("seven")),
    ] {
        let mut waits = described(plain());
        waits.output_schema = Some(schema);
        let shape = render(Provider::Mcp, &waits, true).unwrap();
        let validator = jsonschema::validator_for(&shape["outputSchema"]).unwrap();
        assert!(validator.is_valid(&structured(&waits, fits)));
        assert!(!validator.is_valid(&structured(&waits, does_not)));
        let told = json!({
            "decision": "approval_required", "request_id": "01J", "resource": "actum://calls/01J",
        });
        assert!(validator.is_valid(&told));
        // Where nothing waits, there is no such answer.
        let shape = render(Provider::Mcp, &waits, false).unwrap();
        let validator = jsonschema::validator_for(&shape["outputSchema"]).unwrap();
        assert!(!validator.is_valid(&told));
    }
}

#[test]
fn a_result_of_blocks_has_no_output_schema_for_mcp() {
    let mut shown = described(plain());
    shown.output_schema =
        crate::__private::output_schema::<Result<crate::Content, crate::ActionError>>().unwrap();
    assert!(crate::content::is_content(
        shown.output_schema.as_ref().unwrap()
    ));
    let shape = render(Provider::Mcp, &shown, false).unwrap();
    assert_eq!(shape.get("outputSchema"), None);
}
