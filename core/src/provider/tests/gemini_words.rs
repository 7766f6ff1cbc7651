//! What Gemini's subset has no word for.

use super::*;

#[test]
fn gemini_is_told_what_it_has_no_word_for() {
    let schema = closed(
        json!({
            "id": {"type": "string", "format": "uuid", "description": "Which", "default": "x"},
            "price": {"type": "number", "exclusiveMinimum": 0},
            "level": {"type": "integer", "enum": [1, 2]},
            "tag": {"const": "t"},
            "free": {"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}},
            "maybe": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}],
                      "description": "Either."},
            "any": {"description": "Anything."}
        }),
        json!(["id"]),
    );
    let tool = rendered(Provider::Gemini, schema);
    let properties = &tool["parameters"]["properties"];
    assert_eq!(
        properties["id"],
        json!({"type": "STRING", "description": "Which. Format: uuid. Default: \"x\"."})
    );
    assert_eq!(
        properties["price"],
        json!({"type": "NUMBER", "description": "More than 0."})
    );
    assert_eq!(
        properties["level"],
        json!({"type": "INTEGER", "description": "One of 1, 2."})
    );
    assert_eq!(
        properties["tag"],
        json!({"type": "STRING", "format": "enum", "enum": ["t"]})
    );
    assert_eq!(
        properties["free"],
        json!({"type": "OBJECT", "description": "Further names are free; each value is integer."})
    );
    assert_eq!(
        properties["maybe"],
        json!({"anyOf": [
            {"type": "STRING", "nullable": true, "description": "Either."},
            {"type": "INTEGER", "nullable": true, "description": "Either."}
        ]})
    );
    assert_eq!(properties["any"]["anyOf"].as_array().unwrap().len(), 5);
}

#[test]
fn a_type_inside_itself_is_cut_for_gemini_and_kept_for_the_others() {
    let mut schema = closed(json!({"tree": {"$ref": "#/$defs/Tree"}}), json!(["tree"]));
    schema["$defs"] = json!({"Tree": closed(
        json!({
            "name": {"type": "string"},
            "under": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
        }),
        json!(["name", "under"]),
    )});
    for provider in Provider::ALL {
        let tool = rendered(provider, schema.clone());
        let text = tool.to_string();
        assert_eq!(text.contains("$ref"), provider != Provider::Gemini);
    }
    let tool = rendered(Provider::Gemini, schema);
    let inner = "/parameters/properties/tree/properties/under/items/properties/under/items";
    assert_eq!(
        tool.pointer(inner).unwrap(),
        &json!({"type": "OBJECT", "description": "Again a `Tree`, of the form above."})
    );
}

#[test]
fn a_union_inside_itself_is_cut_to_the_types_of_its_alternatives() {
    let mut schema = closed(json!({"ask": {"$ref": "#/$defs/Ask"}}), json!(["ask"]));
    schema["$defs"] = json!({"Ask": {"oneOf": [
        {"type": "string", "enum": ["none"]},
        closed(json!({"not": {"$ref": "#/$defs/Ask"}}), json!(["not"])),
    ]}});
    let tool = rendered(Provider::Gemini, schema);
    let inner = "/parameters/properties/ask/anyOf/1/properties/not/anyOf/1/properties/not";
    let again = "Again a `Ask`, of the form above.";
    assert_eq!(
        tool.pointer(inner).unwrap(),
        &json!({"anyOf": [
            {"type": "OBJECT", "description": again},
            {"type": "STRING", "description": again}
        ]})
    );
}

#[test]
fn what_stands_beside_a_reference_takes_no_null_away() {
    let mut schema = closed(
        json!({"a": {"$ref": "#/$defs/N", "minProperties": 1}}),
        json!(["a"]),
    );
    schema["$defs"] = json!({"N": {
        "type": ["object", "null"], "properties": {"x": {"type": "string"}}, "required": ["x"]
    }});
    let tool = rendered(Provider::Gemini, schema);
    assert_eq!(
        tool["parameters"]["properties"]["a"],
        json!({
            "type": "OBJECT", "nullable": true, "minProperties": "1",
            "properties": {"x": {"type": "STRING"}}, "required": ["x"]
        })
    );
}

#[test]
fn a_required_name_that_is_no_property_is_left_to_the_kernel() {
    let mut schema = closed(json!({"b": {"type": "string"}}), json!(["a", "b"]));
    schema["additionalProperties"] = json!({"type": "string"});
    let tool = rendered(Provider::Gemini, schema);
    assert_eq!(tool["parameters"]["required"], json!(["b"]));
}
