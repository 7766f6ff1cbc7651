//! When `strict` is true, and what stays where it is not.

use super::*;

#[test]
fn strict_is_computed_from_the_schema() {
    let strict = |properties: Value, required: Value| {
        let tool = rendered(Provider::OpenAiResponses, closed(properties, required));
        tool["strict"].as_bool().unwrap()
    };
    let text = json!({"type": "string"});
    assert!(strict(json!({"a": text}), json!(["a"])));
    // Absent and null are the same: required, and null may be sent.
    assert!(strict(
        json!({"a": {"type": ["string", "null"]}}),
        json!([])
    ));
    assert!(strict(
        json!({"a": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}),
        json!([])
    ));
    assert!(strict(
        json!({"a": {"type": ["string", "null"], "default": null}}),
        json!([])
    ));
    // They are not the same here.
    assert!(!strict(json!({"a": text}), json!([])));
    assert!(!strict(
        json!({"a": {"type": ["string", "null"], "default": "x"}}),
        json!([])
    ));
    // Nothing says this.
    for inner in [
        json!({}),
        json!({"type": "object", "properties": {}}),
        json!({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}),
        json!({"type": "string", "minLength": 1}),
        json!({"type": "array", "items": text, "uniqueItems": true}),
        json!({"type": "array", "prefixItems": [text, {"type": "null"}], "minItems": 2, "maxItems": 2}),
        json!({"oneOf": [{"type": "string"}, {"type": "string", "pattern": "a"}]}),
        json!({"not": {"type": "string"}}),
        json!({"allOf": [text]}),
    ] {
        assert!(!strict(json!({"a": inner}), json!(["a"])), "{inner}");
    }
    // These can be rewritten without a change of meaning.
    for inner in [
        json!({"oneOf": [text, {"type": "integer"}]}),
        json!({"oneOf": [
            closed(json!({"k": {"type": "string", "const": "x"}}), json!(["k"])),
            closed(json!({"k": {"const": "y"}, "z": text}), json!(["k", "z"])),
        ]}),
        json!({"oneOf": [{"const": "a", "description": "First."}, {"const": "b"}]}),
        json!({"type": "array", "prefixItems": [text, text], "minItems": 2, "maxItems": 2}),
        json!({"type": "string", "format": "uri", "title": "T", "default": "x", "examples": ["x"]}),
        json!({"type": "integer", "minimum": 0, "maximum": 9}),
    ] {
        assert!(strict(json!({"a": inner}), json!(["a"])), "{inner}");
    }
}

#[test]
fn a_reference_with_a_description_keeps_it_in_a_strict_schema() {
    let mut schema = closed(
        json!({"a": {"$ref": "#/$defs/A", "description": "The first."}, "b": {"$ref": "#/$defs/A"}}),
        json!(["a", "b"]),
    );
    schema["$defs"] = json!({
        "A": {"type": "string", "enum": ["x"], "description": "A thing."},
        "Unused": {}
    });
    let tool = rendered(Provider::OpenAiResponses, schema);
    assert_eq!(tool["strict"], true);
    assert_eq!(
        tool["parameters"]["properties"],
        json!({
            "a": {"type": "string", "enum": ["x"], "description": "The first."},
            "b": {"$ref": "#/$defs/A"}
        })
    );
    assert_eq!(tool["parameters"]["$defs"].as_object().unwrap().len(), 1);
}

#[test]
fn tuples_have_items_and_keep_their_positions() {
    let tuple = json!({
        "type": "array", "minItems": 2, "maxItems": 2,
        "prefixItems": [{"type": "string"}, {"type": "integer"}]
    });
    let schema = closed(json!({"pair": tuple}), json!(["pair"]));
    let tool = rendered(Provider::OpenAiResponses, schema.clone());
    assert_eq!(tool["strict"], false);
    let pair = &tool["parameters"]["properties"]["pair"];
    assert_eq!(pair["prefixItems"], tuple["prefixItems"]);
    assert_eq!(pair["items"], json!({"anyOf": tuple["prefixItems"]}));
    let tool = rendered(Provider::Gemini, schema);
    assert_eq!(
        tool["parameters"]["properties"]["pair"],
        json!({
            "type": "ARRAY", "minItems": "2", "maxItems": "2",
            "items": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
            "description": "In this order: string, integer."
        })
    );
}
