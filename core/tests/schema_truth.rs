//! What a schema says of a payload and what serde makes of it, over every form that a payload takes.
#![allow(
    missing_docs,
    dead_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "payloads that are only described, and tests"
)]

use actum::provider::Provider;
use actum::schema::{CompiledSchema, SchemaFault, arguments_of, normal_form, result_of};
use actum::{Registry, testing};
use serde_json::{Map, Value, json};

/// Payloads whose schema and type agree.
#[path = "schema_truth/truthful.rs"]
mod truthful;

/// Payloads whose schema says something else than their type.
mod lying {
    use actum::{ActionError, action};
    use schemars::JsonSchema;
    use serde::{Deserialize, Deserializer};

    fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
        Deserialize::deserialize(deserializer)
    }
    fn number_or_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Number(u8),
            Text(String),
        }
        Ok(match Either::deserialize(deserializer)? {
            Either::Number(number) => number,
            Either::Text(text) => text.len() as u8,
        })
    }

    /// serde wants the field to be there: `deserialize_with` without `default`.
    #[derive(Deserialize, JsonSchema)]
    pub struct AbsentIsRefused {
        #[serde(deserialize_with = "number")]
        value: Option<u8>,
    }
    #[action(id = "lie.absent", description = "Lies.")]
    async fn absent(_: AbsentIsRefused) -> Result<(), ActionError> {
        Ok(())
    }

    /// The schema is of another type.
    #[derive(Deserialize, JsonSchema)]
    pub struct OtherType {
        #[schemars(with = "String")]
        value: u8,
    }
    #[action(id = "lie.other_type", description = "Lies.")]
    async fn other_type(_: OtherType) -> Result<(), ActionError> {
        Ok(())
    }

    /// The type takes more kinds of values than its schema tells.
    #[derive(Deserialize, JsonSchema)]
    pub struct TakesMore {
        #[serde(deserialize_with = "number_or_text")]
        value: u8,
    }
    #[action(id = "lie.takes_more", description = "Lies.")]
    async fn takes_more(_: TakesMore) -> Result<(), ActionError> {
        Ok(())
    }

    /// The type asks for what no schema says.
    #[derive(Deserialize, JsonSchema)]
    pub struct SecretRule {
        #[serde(deserialize_with = "even")]
        value: u8,
    }
    fn even<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
        let number = u8::deserialize(deserializer)?;
        let refusal = || serde::de::Error::custom("an odd number");
        if number % 2 == 0 {
            Ok(number)
        } else {
            Err(refusal())
        }
    }
    #[action(id = "lie.secret_rule", description = "Lies.")]
    async fn secret_rule(_: SecretRule) -> Result<(), ActionError> {
        Ok(())
    }

    /// serde does not support the two together: the enum's own fields count as unknown.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    pub struct StrictFlatEnum {
        #[serde(flatten)]
        flat: super::truthful::Tagged,
    }
    #[action(id = "lie.strict_flat_enum", description = "Lies.")]
    async fn strict_flat_enum(_: StrictFlatEnum) -> Result<(), ActionError> {
        Ok(())
    }

    /// schemars tells of text, and serde wants one letter, or an address with a port.
    #[derive(Deserialize, JsonSchema)]
    pub struct SaysTooLittle {
        by_letter: std::collections::BTreeMap<char, u8>,
        socket: Option<std::net::SocketAddr>,
    }
    #[action(id = "lie.says_too_little", description = "Lies.")]
    async fn says_too_little(_: SaysTooLittle) -> Result<(), ActionError> {
        Ok(())
    }

    /// Nothing is known to fit.
    #[derive(Deserialize, JsonSchema)]
    pub struct Pattern {
        #[schemars(regex(pattern = "^x-[0-9]{7}-y$"))]
        value: String,
    }
    #[action(id = "lie.pattern", description = "Lies.")]
    async fn pattern(_: Pattern) -> Result<(), ActionError> {
        Ok(())
    }
}

fn registry_of(module: &str) -> Registry {
    let linked = Registry::linked().unwrap();
    let wanted = linked
        .actions()
        .map(|(_, action)| action)
        .filter(|action| action.place().module.ends_with(module));
    Registry::new(wanted, []).unwrap()
}

fn schemas() -> Vec<(String, Value)> {
    let registry = registry_of("truthful");
    let catalog = registry.catalog();
    registry
        .actions()
        .map(|(id, _)| {
            let tool = catalog.tool_descriptor_for(id.as_str()).unwrap();
            (id.to_string(), tool.parameters_schema.clone())
        })
        .collect()
}

fn schema(id: &str) -> Value {
    let all = schemas();
    all.into_iter().find(|(one, _)| one == id).unwrap().1
}

#[test]
fn schema_and_type_agree_for_every_form_of_a_payload() {
    let registry = registry_of("truthful");
    assert!(registry.actions().count() > 35);
    testing::check(&registry, &[]).unwrap_or_else(|faults| panic!("{faults}"));
}

#[test]
fn every_form_can_be_told_to_every_provider_but_these() {
    let faults = testing::check(&registry_of("truthful"), &Provider::ALL).unwrap_err();
    let told: Vec<_> = faults
        .all()
        .iter()
        .map(|fault| (fault.id.as_str(), fault.problem.lines().next().unwrap()))
        .collect();
    let expected = [
        (
            "zoo.attributes",
            "the tool `zoo-attributes` cannot be told to gemini:",
        ),
        ("zoo.map", "the tool `zoo-map` cannot be told to gemini:"),
        (
            "zoo.map_newtype",
            "the tool `zoo-map_newtype` cannot be told to gemini:",
        ),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_schema_that_says_something_else_than_its_type_is_found() {
    let faults = testing::check(&registry_of("lying"), &[]).unwrap_err();
    let told = |id: &str| {
        let all = faults.all().iter().filter(|fault| fault.id == id);
        all.map(|fault| fault.problem.clone())
            .collect::<Vec<_>>()
            .join("\n")
    };
    let expected = [
        (
            "lie.absent",
            "accepts {}, and its type refuses it: missing field `value`",
        ),
        ("lie.other_type", "expected u8"),
        ("lie.takes_more", "at `/value` its type also takes \"text\""),
        ("lie.secret_rule", "an odd number"),
        ("lie.says_too_little", "expected a character"),
        ("lie.says_too_little", "invalid socket address syntax"),
        ("lie.strict_flat_enum", "unknown field `kind`"),
        ("lie.pattern", "no arguments could be made"),
    ];
    for (id, words) in expected {
        assert!(told(id).contains(words), "{id}: {}", told(id));
    }
    let place = faults.all()[0].at;
    assert!(place.file.ends_with("schema_truth.rs"), "{place}");
}

/// Shows every schema in a schema, itself included.
fn each(schema: &Value, see: &mut dyn FnMut(&Value)) {
    see(schema);
    let Value::Object(object) = schema else {
        return;
    };
    for (key, value) in object {
        match (key.as_str(), value) {
            ("properties" | "patternProperties" | "$defs", Value::Object(map)) => {
                map.values().for_each(|inner| each(inner, see));
            }
            ("oneOf" | "anyOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                list.iter().for_each(|inner| each(inner, see));
            }
            ("additionalProperties" | "unevaluatedProperties", Value::Bool(false)) => {}
            ("items" | "additionalProperties" | "not" | "propertyNames", inner) => each(inner, see),
            _ => {}
        }
    }
}

#[test]
fn every_schema_is_in_normal_form() {
    for (id, root) in schemas() {
        assert_eq!(root["type"], "object", "{id}");
        assert!(root["properties"].is_object(), "{id}");
        assert!(root.get("title").is_none(), "{id}");
        each(&root, &mut |schema| {
            let told = format!("{id}: {schema}");
            assert!(schema.is_object(), "a boolean schema in {told}");
            for noise in ["$schema", "readOnly", "writeOnly", "allOf"] {
                assert!(schema.get(noise).is_none(), "{noise} in {told}");
            }
            let format = schema
                .get("format")
                .and_then(Value::as_str)
                .unwrap_or_default();
            assert!(
                !format.contains("int") && format != "float" && format != "double",
                "{told}"
            );
            if let Some(Value::String(reference)) = schema.get("$ref") {
                let target = reference
                    .strip_prefix("#")
                    .map(|to| root.pointer(to).is_some());
                assert_eq!(target, Some(true), "dangling in {told}");
                let name = reference.strip_prefix("#/$defs/").unwrap();
                assert!(
                    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
                    "{told}"
                );
            }
            if schema.get("type") == Some(&json!("object")) {
                let closed = schema.get("additionalProperties").is_some()
                    || schema.get("unevaluatedProperties").is_some();
                let union = schema.get("oneOf").or(schema.get("anyOf"));
                assert!(
                    closed || union.is_some(),
                    "neither closed nor a map: {told}"
                );
                assert!(
                    schema.get("properties").is_some()
                        || schema.get("additionalProperties").is_some(),
                    "{told}"
                );
            }
        });
        assert_eq!(
            normal_form(root.clone()).as_ref(),
            Ok(&root),
            "{id} is not its own normal form"
        );
    }
}

#[test]
fn an_unknown_argument_is_refused_by_name_wherever_names_are_given() {
    let cases = [
        ("zoo.newtype", json!({"name": "a", "stranger": 1}), ""),
        ("zoo.empty", json!({"stranger": 1}), ""),
        ("zoo.unit_struct", json!({"stranger": 1}), ""),
        (
            "zoo.tagged",
            json!({"kind": "Struct", "x": 1, "stranger": 1}),
            "",
        ),
        (
            "zoo.tagged",
            json!({"kind": "Newtype", "name": "a", "stranger": 1}),
            "",
        ),
        (
            "zoo.tagged",
            json!({"kind": "Closed", "name": "a", "stranger": 1}),
            "",
        ),
        ("zoo.tagged", json!({"kind": "Unit", "stranger": 1}), ""),
        (
            "zoo.adjacent",
            json!({"kind": "Newtype", "value": {"name": "a", "stranger": 1}}),
            "/value",
        ),
        (
            "zoo.external",
            json!({"struct": {"x": 1, "stranger": 1}}),
            "/struct",
        ),
        (
            "zoo.flat_struct",
            json!({"own": 1, "name": "a", "stranger": 1}),
            "",
        ),
        (
            "zoo.flat_closed",
            json!({"own": 1, "name": "a", "stranger": 1}),
            "",
        ),
        (
            "zoo.flat_enum",
            json!({"own": 1, "kind": "Unit", "stranger": 1}),
            "",
        ),
        ("zoo.flat_option", json!({"own": 1, "stranger": 1}), ""),
        (
            "zoo.node",
            json!({"all": [{"all": [], "stranger": 1}]}),
            "/all/0",
        ),
        (
            "zoo.attributes",
            json!({"withAlias": "a", "notWritten": 1, "re-named": 1, "byText": "a", "stranger": 1}),
            "",
        ),
        (
            "zoo.options",
            json!({"of_struct": {"name": "a", "stranger": 1}}),
            "/of_struct",
        ),
    ];
    let registry = registry_of("truthful");
    for (id, mut arguments, at) in cases {
        let faults = registry.check_arguments(id, &arguments).unwrap_err();
        let told: Vec<_> = faults
            .iter()
            .map(|fault| (fault.at.as_str(), fault.problem.as_str()))
            .collect();
        assert_eq!(told, [(at, "unknown argument `stranger`")], "{id}");
        let place = arguments.pointer_mut(at).unwrap();
        place.as_object_mut().unwrap().remove("stranger");
        assert_eq!(registry.check_arguments(id, &arguments), Ok(()), "{id}");
    }
}

#[test]
fn a_flattened_pair_of_enums_takes_each_combination_and_nothing_else() {
    let registry = registry_of("truthful");
    let takes = |arguments: Value| {
        registry
            .check_arguments("zoo.two_enums", &arguments)
            .is_ok()
    };
    assert!(takes(json!({"kind": "Unit", "sort": "That"})));
    assert!(takes(
        json!({"kind": "Struct", "x": 1, "sort": "This", "y": 1})
    ));
    assert!(!takes(json!({"kind": "Unit", "sort": "That", "y": 1})));
    assert!(!takes(json!({"kind": "Unit"})));
    assert!(!takes(
        json!({"kind": "Unit", "sort": "That", "stranger": 1})
    ));
}

#[test]
fn any_json_is_no_boolean_schema_with_and_without_words() {
    let schema = schema("zoo.any");
    assert_eq!(schema["properties"]["bare"], json!({}));
    assert_eq!(
        schema["properties"]["told"],
        json!({"description": "Documented."})
    );
    assert_eq!(schema["properties"]["list"]["items"], json!({}));
    assert_eq!(schema["properties"]["option"], json!({}));
    assert_eq!(
        schema["properties"]["map"]["additionalProperties"],
        json!({})
    );
}

#[test]
fn nothing_to_fill_in_is_an_object_that_takes_nothing() {
    let registry = registry_of("truthful");
    for id in ["zoo.unit", "zoo.unit_struct", "zoo.empty"] {
        assert_eq!(schema(id), actum::schema::no_arguments(), "{id}");
        assert_eq!(registry.check_arguments(id, &json!({})), Ok(()), "{id}");
    }
}

#[test]
fn absent_and_null_are_both_nothing() {
    let registry = registry_of("truthful");
    let names = [
        "plain",
        "of_struct",
        "of_enum",
        "of_list",
        "twice",
        "boxed",
        "told",
    ];
    let nulls: Map<_, _> = names
        .iter()
        .map(|name| ((*name).to_owned(), Value::Null))
        .collect();
    assert_eq!(registry.check_arguments("zoo.options", &json!({})), Ok(()));
    assert_eq!(
        registry.check_arguments("zoo.options", &Value::Object(nulls)),
        Ok(())
    );
}

#[test]
fn integers_have_the_bounds_of_their_type() {
    let schema = schema("zoo.numbers");
    let of = |name: &str| schema["properties"][name].clone();
    let bounds =
        |least: Value, most: Value| json!({"type": "integer", "minimum": least, "maximum": most});
    assert_eq!(of("u8"), bounds(json!(0), json!(255)));
    assert_eq!(of("u32"), bounds(json!(0), json!(u32::MAX)));
    assert_eq!(of("i16"), bounds(json!(i16::MIN), json!(i16::MAX)));
    assert_eq!(of("i32"), bounds(json!(i32::MIN), json!(i32::MAX)));
    assert_eq!(of("non_zero"), bounds(json!(1), json!(255)));
    for unsigned in ["u64", "u128", "usize"] {
        assert_eq!(
            of(unsigned),
            json!({"type": "integer", "minimum": 0}),
            "{unsigned}"
        );
    }
    for signed in ["i64", "i128", "isize"] {
        assert_eq!(of(signed), json!({"type": "integer"}), "{signed}");
    }
    assert_eq!(of("f32"), json!({"type": "number"}));
}

#[test]
fn every_value_of_an_enum_is_in_one_list_whether_told_of_or_not() {
    let schema = schema("zoo.names");
    assert_eq!(
        schema["$defs"]["Colour"],
        json!({"type": "string", "enum": ["dark-red", "light-green"]})
    );
    assert_eq!(
        schema["$defs"]["PartlyTold"],
        json!({"type": "string", "enum": ["Two", "One"], "description": "Some are told of.\n- `One`: The first."})
    );
    assert_eq!(
        schema["$defs"]["AllTold"],
        json!({"type": "string", "enum": ["One", "Two"], "description": "- `One`: The first.\n- `Two`: The second."})
    );
}

#[test]
fn docs_are_kept_as_written() {
    let schema = schema("zoo.docs");
    assert_eq!(
        schema["description"],
        "The whole.\n\nWith a second paragraph."
    );
    let of = |name: &str| schema["properties"][name]["description"].clone();
    assert_eq!(of("list_and_fence"), "One.\n\n- a\n- b\n\n```\ncode\n```");
    assert_eq!(of("odd_text"), "Quotes \" and \\ and ünïcödé,\r\nand CRLF.");
    assert_eq!(of("words"), "Of a type with words.");
}

#[test]
fn a_type_that_holds_itself_is_a_definition() {
    let node = schema("zoo.node");
    assert_eq!(
        node["properties"]["all"]["items"],
        json!({"$ref": "#/$defs/Node"})
    );
    assert_eq!(node["$defs"]["Node"]["properties"], node["properties"]);
    let tree = schema("zoo.tree");
    assert_eq!(
        tree["oneOf"][1]["properties"]["left"],
        json!({"$ref": "#/$defs/Tree"})
    );
}

#[test]
fn a_root_that_is_written_as_itself_is_a_definition() {
    let list = json!({
        "title": "A list", "type": "object", "properties": {"next": {"$ref": "#"}},
        "$defs": {"A_list": {"type": "string"}},
    });
    let schema = normal_form(list).unwrap();
    let reference = json!({"$ref": "#/$defs/A_list2"});
    assert_eq!(schema["properties"]["next"], reference);
    assert_eq!(schema["$defs"]["A_list2"]["properties"]["next"], reference);
    assert!(
        schema["$defs"].get("A_list").is_none(),
        "nothing refers to it"
    );
}

#[test]
fn two_types_of_one_name_are_two_definitions() {
    let schema = schema("zoo.same_names");
    let of = |field: &str| {
        let reference = schema["properties"][field]["$ref"].as_str().unwrap();
        schema.pointer(&reference[1..]).unwrap()["properties"].clone()
    };
    assert!(of("one").get("a").is_some() && of("two").get("b").is_some());
}

#[test]
fn a_payload_that_is_no_object_is_refused_in_words() {
    use truthful::{Colour, Inner, PartlyTold};
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    enum Mixed {
        Unit,
        Struct { x: u8 },
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Text(String);
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Pair(u8, u8);
    let refused = |found: &str| {
        Err(SchemaFault::NotAnObject {
            found: found.to_owned(),
        })
    };
    assert_eq!(arguments_of::<String>(), refused("a string"));
    assert_eq!(arguments_of::<Text>(), refused("a string"));
    assert_eq!(arguments_of::<Colour>(), refused("a string"));
    assert_eq!(arguments_of::<PartlyTold>(), refused("a string"));
    assert_eq!(arguments_of::<Vec<u8>>(), refused("a list"));
    assert_eq!(arguments_of::<Pair>(), refused("a list"));
    assert_eq!(arguments_of::<u8>(), refused("an integer"));
    assert_eq!(arguments_of::<Value>(), refused("anything at all"));
    let partly = |found: &str| {
        Err(SchemaFault::NotAlwaysAnObject {
            found: found.to_owned(),
        })
    };
    assert_eq!(arguments_of::<Option<Inner>>(), partly("null"));
    assert_eq!(arguments_of::<Mixed>(), partly("a string"));
    assert_eq!(normal_form(json!(true)), refused("anything at all"));
    assert_eq!(
        normal_form(json!({"$ref": "#"})),
        refused("anything at all")
    );
    assert_eq!(
        normal_form(json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}})),
        refused("anything at all")
    );
}

#[test]
fn what_must_not_be_is_not_closed() {
    // Closed, it would let `{"a": 1, "b": 2}` through, which it is there to keep out.
    let out =
        json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    let schema = json!({"type": "object", "properties": {"x": {"not": out.clone()}}});
    assert_eq!(normal_form(schema).unwrap()["properties"]["x"]["not"], out);
}

#[test]
fn a_schema_too_deep_or_too_large_is_refused() {
    let mut deep = json!({"type": "string"});
    for _ in 0..80 {
        deep = json!({"type": "array", "items": deep});
    }
    let object = |inner: Value| json!({"type": "object", "properties": {"x": inner}});
    assert_eq!(normal_form(object(deep)), Err(SchemaFault::TooDeep));
    let large = json!({"type": "string", "description": "a".repeat(70_000)});
    assert!(matches!(
        normal_form(object(large)),
        Err(SchemaFault::TooLarge { .. })
    ));
}

#[test]
fn what_cannot_be_told_as_one_object_is_refused() {
    let entangled = json!({
        "type": "object",
        "properties": {"name": {"type": "integer"}},
        "allOf": [{"type": "object", "properties": {"name": {"type": "string"}}}]
    });
    assert_eq!(normal_form(entangled), Err(SchemaFault::Entangled));
    // More combinations than are written out.
    let union = |name: &str| {
        let one = |value: u8| json!({"type": "object", "properties": {name: {"const": value}}, "required": [name]});
        json!({"oneOf": [one(1), one(2), one(3)]})
    };
    let all = |names: &[&str]| {
        let parts: Vec<_> = names.iter().map(|name| union(name)).collect();
        json!({"type": "object", "allOf": parts})
    };
    let few = normal_form(all(&["a", "b", "c"])).unwrap();
    assert_eq!(few["oneOf"].as_array().unwrap().len(), 27);
    assert_eq!(
        normal_form(all(&["a", "b", "c", "d"])),
        Err(SchemaFault::Entangled)
    );
}

#[test]
fn a_result_may_be_anything_stays_open_and_nothing_is_not_told() {
    use std::collections::BTreeMap;
    #[derive(serde::Serialize, schemars::JsonSchema)]
    struct Found {
        count: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        more: Option<String>,
    }
    type Alias = Found;
    let found = json!({
        "type": "object",
        "properties": {
            "count": {"type": "integer", "minimum": 0, "maximum": u32::MAX},
            "more": {"type": ["string", "null"]},
        },
        "required": ["count"],
    });
    assert_eq!(result_of::<Found>(), Ok(Some(found.clone())));
    assert_eq!(result_of::<Alias>(), Ok(Some(found)));
    assert_eq!(result_of::<()>(), Ok(None));
    assert_eq!(result_of::<Value>(), Ok(None));
    assert_eq!(result_of::<bool>(), Ok(Some(json!({"type": "boolean"}))));
    assert_eq!(result_of::<String>(), Ok(Some(json!({"type": "string"}))));
    assert_eq!(
        result_of::<Vec<u8>>(),
        Ok(Some(
            json!({"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}})
        ))
    );
    assert_eq!(
        result_of::<BTreeMap<String, bool>>(),
        Ok(Some(
            json!({"type": "object", "additionalProperties": {"type": "boolean"}})
        ))
    );
}

#[test]
fn one_number_has_one_answer_however_it_is_written() {
    let registry = registry_of("truthful");
    let check = |arguments: Value| registry.check_arguments("zoo.ranges", &arguments);
    let with = |count: Value| json!({"count": count, "text": "ab", "list": [], "word": "a"});
    assert_eq!(check(with(json!(5))), Ok(()));
    assert_eq!(check(with(json!(5.0))), Ok(()));
    assert!(check(with(json!(5.5))).is_err());
    assert!(check(with(json!("5"))).is_err());
    assert!(
        check(json!([5, "ab", [], "a"])).is_err(),
        "a list of the fields is no struct"
    );
}

#[test]
fn faults_say_what_was_expected_and_what_came_and_echo_nothing() {
    let registry = registry_of("truthful");
    let told = |id: &str, arguments: Value| {
        let faults = registry.check_arguments(id, &arguments).unwrap_err();
        let told: Vec<_> = faults
            .iter()
            .map(|fault| format!("{}: {}", fault.at, fault.problem))
            .collect();
        let all = told.join("\n");
        assert!(!all.contains("s3cret"), "{all}");
        all
    };
    assert_eq!(
        told("zoo.newtype", json!({"naem": "s3cret"})),
        ": missing argument `name`\n: unknown argument `naem` (did you mean `name`?)"
    );
    assert_eq!(
        told("zoo.newtype", json!({"name": 5})),
        "/name: expected a string, found an integer"
    );
    assert_eq!(
        told("zoo.newtype", json!({"name": "a", "deep": "s3cret"})),
        "/deep: expected an integer or null, found a string"
    );
    assert_eq!(
        told("zoo.newtype", json!({"name": "a", "deep": 256})),
        "/deep: expected at most 255, found more"
    );
    assert_eq!(
        told("zoo.tagged", json!({"kind": "s3cret"})),
        "/kind: expected one of \"Closed\", \"Newtype\", \"Struct\", \"Unit\", found another value"
    );
    assert_eq!(
        told("zoo.tagged", json!({"kind": "Struct", "x": "s3cret"})),
        "/x: expected an integer, found a string"
    );
    assert_eq!(
        told("zoo.options", json!({"of_struct": {"name": 5}})),
        "/of_struct/name: expected a string, found an integer"
    );
    assert_eq!(
        told("zoo.options", json!({"of_struct": 5})),
        "/of_struct: expected an object or null, found an integer"
    );
    assert_eq!(
        told(
            "zoo.names",
            json!({"none": "s3cret", "some": "One", "all": 5, "list": []})
        ),
        "/all: expected a string, found an integer\n/all: expected one of \"One\", \"Two\", found an integer\n/none: expected one of \"dark-red\", \"light-green\", found another value"
    );
    assert_eq!(
        told("zoo.formats", json!({"v4": "s3cret", "v6": "::1"})),
        "/v4: expected text of the format `ipv4`, found other text"
    );
    assert_eq!(
        told(
            "zoo.ranges",
            json!({"count": 0, "text": "s3cret", "list": [1, 2, 3], "word": "S3CRET"})
        ),
        "/count: expected at least 1, found less\n/list: expected at most 2 items, found more\n/text: expected at most 5 characters, found more\n/word: expected text that matches `^[a-z]+$`, found other text"
    );
}

#[test]
fn faults_are_bounded_in_number() {
    let check = CompiledSchema::new(&schema("zoo.lists")).unwrap();
    let many: Vec<_> = (0..1000).map(|_| json!({"stranger": 1})).collect();
    let faults = check.check(&json!({"list": many})).unwrap_err();
    assert!((1..=16).contains(&faults.len()), "{}", faults.len());
}
