//! A checker that checks nothing fails here: each rule has a tool that breaks it.

use super::*;

/// A change that breaks one rule, and the rule that it breaks.
type Breach = (&'static str, fn(&mut Value));

/// The fault of each breach is found, and each rule has a breach.
fn breaches_are_found(provider: Provider, breaches: &[Breach], of_lists: &[&str]) {
    let mut covered: BTreeSet<&str> = of_lists.iter().copied().collect();
    for (rule, change) in breaches {
        let mut tool = rendered(provider, plain());
        assert_eq!(check(provider, &tool), [], "{provider}");
        change(&mut tool);
        let faults = check(provider, &tool);
        assert!(
            faults.iter().any(|fault| fault.rule == *rule),
            "{provider}, {rule}: {tool:#} gave {faults:?}"
        );
        covered.insert(rule);
    }
    let all: BTreeSet<_> = provider.rules().iter().map(|rule| rule.id).collect();
    assert_eq!(covered, all, "{provider}");
}

#[test]
fn a_tool_that_breaks_a_rule_of_openai_is_found() {
    const BREACHES: &[Breach] = &[
        ("openai.shape", |tool| tool["type"] = json!("custom")),
        ("openai.shape", |tool| tool["extra"] = json!(1)),
        ("openai.shape", |tool| tool["strict"] = json!("yes")),
        ("openai.name", |tool| tool["name"] = json!("a.b")),
        ("openai.name", |tool| tool["name"] = json!("a".repeat(65))),
        ("openai.name", |tool| tool["name"] = json!("")),
        ("openai.description", |tool| {
            tool["description"] = json!("é".repeat(1025));
        }),
        ("openai.root-object", |tool| {
            tool["parameters"]["type"] = json!(["object", "null"]);
        }),
        ("openai.root-object", |tool| {
            tool["parameters"]["anyOf"] = json!([{"type": "object", "properties": {}}]);
        }),
        ("openai.json-schema", |tool| {
            tool["parameters"]["properties"]["to"]["type"] = json!("text");
        }),
        ("openai.references", |tool| {
            tool["parameters"]["properties"]["to"] = json!({"$ref": "#/$defs/Gone"});
        }),
        ("openai.properties", |tool| {
            tool["parameters"]["properties"]["to"] = json!({"type": ["object", "null"]});
        }),
        ("openai.items", |tool| {
            tool["parameters"]["properties"]["tags"] = json!({"type": "array"});
        }),
        ("openai.one-of", |tool| {
            tool["parameters"]["properties"]["to"] = json!({"oneOf": [{"type": "string"}]});
        }),
        ("openai.strict-keywords", |tool| {
            tool["parameters"]["properties"]["to"]["minLength"] = json!(1);
        }),
        ("openai.strict-type", |tool| {
            tool["parameters"]["properties"]["to"] = json!({});
        }),
        ("openai.strict-reference", |tool| {
            tool["parameters"]["properties"]["to"] = json!({"$ref": "#", "description": "Again."});
        }),
        ("openai.strict-closed", |tool| {
            tool["parameters"]
                .as_object_mut()
                .unwrap()
                .remove("additionalProperties");
        }),
        ("openai.strict-required", |tool| {
            tool["parameters"]["required"] = json!(["to"]);
        }),
        ("openai.strict-format", |tool| {
            tool["parameters"]["properties"]["to"]["format"] = json!("uri");
        }),
        ("openai.strict-first-key", |tool| {
            let one = closed(json!({"a": {"type": "string"}}), json!(["a"]));
            let two = closed(json!({"a": {"type": "integer"}}), json!(["a"]));
            tool["parameters"]["properties"]["to"] = json!({"anyOf": [one, two]});
        }),
        ("openai.strict-depth", |tool| {
            let mut deep = json!({"type": "string"});
            for _ in 0..10 {
                deep = json!({"type": "array", "items": deep});
            }
            tool["parameters"]["properties"]["to"] = deep;
        }),
        ("openai.strict-property-count", |tool| {
            let names: Vec<_> = (0..5_001).map(|n| format!("p{n}")).collect();
            let null = |name: &String| (name.clone(), json!({"type": "null"}));
            tool["parameters"]["properties"] = names.iter().map(null).collect();
            tool["parameters"]["required"] = json!(names);
        }),
        ("openai.strict-text", |tool| {
            tool["parameters"]["properties"]["to"]["const"] = json!("x".repeat(120_000));
        }),
        ("openai.strict-enum-count", |tool| {
            let values: Vec<_> = (0..1_000).map(|n| n.to_string()).collect();
            tool["parameters"]["properties"]["to"]["enum"] = json!(values);
        }),
        ("openai.strict-enum-text", |tool| {
            let values: Vec<_> = (0..251).map(|n| format!("{n:060}")).collect();
            tool["parameters"]["properties"]["to"]["enum"] = json!(values);
        }),
    ];
    let lists = ["openai.unique-names", "openai.tool-count"];
    breaches_are_found(Provider::OpenAiResponses, BREACHES, &lists);
}

#[test]
fn at_its_limits_a_strict_tool_has_no_fault() {
    let deep = (0..9).fold(
        json!({"type": "string"}),
        |inner, _| json!({"type": "array", "items": inner}),
    );
    let names: Vec<_> = (0..4_999).map(|n| format!("p{n}")).collect();
    let wide: serde_json::Map<_, _> = names
        .iter()
        .map(|name| (name.clone(), json!({"type": "null"})))
        .collect();
    let values: Vec<_> = (0..1_000).map(|n| format!("{n:015}")).collect();
    for (properties, required) in [
        (json!({"a": deep}), json!(["a"])),
        (Value::Object(wide), json!(names)),
        (
            json!({"a": {"type": "string", "enum": values}}),
            json!(["a"]),
        ),
    ] {
        let tool = rendered(Provider::OpenAiResponses, closed(properties, required));
        assert_eq!(tool["strict"], true);
    }
}

#[test]
fn chat_completions_nests_what_responses_does_not() {
    let mut chat = rendered(Provider::OpenAiChat, plain());
    let responses = rendered(Provider::OpenAiResponses, plain());
    assert!(!check(Provider::OpenAiChat, &responses).is_empty());
    assert!(!check(Provider::OpenAiResponses, &chat).is_empty());
    chat["function"]["name"] = json!("a.b");
    let faults = check(Provider::OpenAiChat, &chat);
    assert_eq!(faults[0].at, "/function/name");
    assert!(faults[0].to_string().contains("https://"), "{}", faults[0]);
}

#[test]
fn a_tool_that_breaks_a_rule_of_anthropic_is_found() {
    const BREACHES: &[Breach] = &[
        ("anthropic.shape", |tool| tool["strict"] = json!(1)),
        ("anthropic.shape", |tool| tool["description"] = json!(null)),
        ("anthropic.shape", |tool| *tool = json!([])),
        ("anthropic.name", |tool| tool["name"] = json!("a.b")),
        ("anthropic.name", |tool| {
            tool["name"] = json!("a".repeat(65))
        }),
        ("anthropic.root-object", |tool| {
            tool["input_schema"] = json!({"properties": {}});
        }),
        ("anthropic.top-level", |tool| {
            tool["input_schema"]["oneOf"] = json!([{"type": "object"}]);
        }),
        ("anthropic.property-names", |tool| {
            tool["input_schema"]["properties"]["filter[id]"] = json!({});
        }),
        ("anthropic.json-schema", |tool| {
            tool["input_schema"]["required"] = json!("to");
        }),
        ("anthropic.references", |tool| {
            tool["input_schema"]["properties"]["to"] = json!({"$ref": "https://x.test/a.json"});
        }),
    ];
    breaches_are_found(Provider::Anthropic, BREACHES, &["anthropic.unique-names"]);
}

#[test]
fn a_tool_that_breaks_a_rule_of_gemini_is_found() {
    const BREACHES: &[Breach] = &[
        ("gemini.shape", |tool| tool["strict"] = json!(true)),
        ("gemini.name", |tool| tool["name"] = json!("9lives")),
        ("gemini.name", |tool| tool["name"] = json!("a".repeat(65))),
        ("gemini.description", |tool| {
            tool["description"] = json!(" ")
        }),
        ("gemini.parameters", |tool| {
            tool["parameters"] = json!({"type": "OBJECT"});
        }),
        ("gemini.parameters", |tool| {
            tool["parameters"]["type"] = json!("STRING");
        }),
        ("gemini.parameter-names", |tool| {
            tool["parameters"]["properties"]["a-b"] = json!({"type": "STRING"});
        }),
        ("gemini.schema-fields", |tool| {
            tool["parameters"]["properties"]["to"]["const"] = json!("a");
        }),
        ("gemini.schema-fields", |tool| {
            tool["parameters"]["properties"]["to"]["minLength"] = json!(1);
        }),
        ("gemini.schema-fields", |tool| {
            tool["parameters"]["additionalProperties"] = json!(false);
        }),
        ("gemini.schema-type", |tool| {
            tool["parameters"]["properties"]["to"] = json!({"type": "string"});
        }),
        ("gemini.schema-type", |tool| {
            tool["parameters"]["properties"]["to"] = json!({});
        }),
        ("gemini.any-of-alone", |tool| {
            tool["parameters"]["properties"]["to"] =
                json!({"anyOf": [{"type": "STRING"}], "nullable": true});
        }),
        ("gemini.properties", |tool| {
            tool["parameters"]["properties"]["to"] = json!({"type": "OBJECT", "properties": {}});
        }),
        ("gemini.properties", |tool| {
            tool["parameters"]["properties"]["to"]["properties"] = json!({"a": {"type": "STRING"}});
        }),
        ("gemini.required", |tool| {
            tool["parameters"]["required"] = json!(["gone"]);
        }),
        ("gemini.items", |tool| {
            tool["parameters"]["properties"]["tags"] = json!({"type": "ARRAY"});
        }),
        ("gemini.items", |tool| {
            tool["parameters"]["properties"]["to"]["items"] = json!({"type": "STRING"});
        }),
        ("gemini.enum", |tool| {
            tool["parameters"]["properties"]["kind"]["enum"] = json!(["a", ""]);
        }),
        ("gemini.enum", |tool| {
            tool["parameters"]["properties"]["kind"]["type"] = json!("INTEGER");
        }),
        ("gemini.format", |tool| {
            tool["parameters"]["properties"]["to"]["format"] = json!("uuid");
        }),
    ];
    let lists = ["gemini.unique-names", "gemini.tool-count"];
    breaches_are_found(Provider::Gemini, BREACHES, &lists);
}

#[test]
fn a_tool_that_breaks_a_rule_of_mcp_is_found() {
    const BREACHES: &[Breach] = &[
        ("mcp.shape", |tool| tool["parameters"] = json!({})),
        ("mcp.shape", |tool| tool["title"] = json!(1)),
        ("mcp.name", |tool| tool["name"] = json!("a b")),
        ("mcp.name", |tool| tool["name"] = json!("a".repeat(129))),
        ("mcp.input-object", |tool| tool["inputSchema"] = json!({})),
        ("mcp.output-object", |tool| {
            tool["outputSchema"] = json!({"type": "array"});
        }),
        ("mcp.json-schema", |tool| {
            tool["outputSchema"] = json!({"type": "object", "properties": []});
        }),
        ("mcp.references", |tool| {
            tool["inputSchema"]["properties"]["to"] = json!({"$ref": "#/$defs/Gone"});
        }),
        ("mcp.annotations", |tool| {
            tool["annotations"] = json!({"readOnlyHint": "yes"});
        }),
        ("mcp.annotations", |tool| {
            tool["annotations"] = json!({"readOnly": true});
        }),
    ];
    breaches_are_found(Provider::Mcp, BREACHES, &["mcp.unique-names"]);
}
