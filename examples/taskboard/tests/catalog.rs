//! The linked actions are those of the recorded catalog, and take what it says.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use actum::Registry;
use actum::requirement::Class;
use serde_json::{Map, Value, json};
use support::{recorded, recorded_tools};

// Nothing else names the crate here, and what no line names is not linked.
use actum_taskboard as _;

fn registry() -> Registry {
    Registry::linked().unwrap()
}

fn words(list: &Value) -> BTreeSet<&str> {
    let list = list.as_array().unwrap();
    list.iter().map(|word| word.as_str().unwrap()).collect()
}

#[test]
fn the_actions_are_the_37_recorded_ones() {
    let registry = registry();
    let linked: BTreeSet<_> = registry.actions().map(|(id, _)| id.to_string()).collect();
    let recorded: BTreeSet<_> = recorded_tools()
        .iter()
        .map(|tool| tool["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(linked, recorded);
    assert_eq!(linked.len(), 37);
}

#[test]
fn the_control_planes_own_operations_are_known_and_nothing_dispatches_them() {
    let catalog = registry().catalog();
    let recorded = recorded();
    let owned = words(&recorded["control_plane_owned"]);
    assert_eq!(owned.len(), 10);
    for id in &owned {
        assert!(catalog.is_known(id), "{id} is not known");
        assert_eq!(catalog.class_of(id), Some(Class::ControlPlane), "{id}");
        assert!(!catalog.is_dispatchable(id), "{id} can be called");
        assert!(
            catalog.tool_descriptor_for(id).is_none(),
            "{id} is described"
        );
    }
    assert_eq!(catalog.len(), 37 + owned.len(), "nothing else is known");
}

#[test]
fn each_tool_asks_of_its_caller_what_is_recorded() {
    let catalog = registry().catalog();
    for tool in recorded_tools() {
        let id = tool["id"].as_str().unwrap();
        let required = catalog.requirements_for(id).unwrap();
        let class = required.class.map(Class::as_str);
        assert_eq!(class, tool["class"].as_str(), "{id}");
        assert_eq!(borrowed(&required.claims), words(&tool["claims"]), "{id}");
        assert_eq!(borrowed(&required.roles), words(&tool["roles"]), "{id}");
        assert_eq!(borrowed(&required.modes), words(&tool["modes"]), "{id}");
        assert_eq!(
            required.reads_secrets,
            tool["effect"] == "secret_read",
            "{id}"
        );
        let descriptor = catalog.tool_descriptor_for(id).unwrap();
        let key = tool["idempotency_key_required"].as_bool();
        assert_eq!(Some(descriptor.idempotency_key_required), key, "{id}");
        let is_hatch = tool["effect"] == "test_escape_hatch";
        assert_eq!(required.escape_hatch.is_some(), is_hatch, "{id}");
        let asks_people = tool["input"]["properties"].get("interactionKind");
        let argument = asks_people.map(|_| "interactionKind");
        assert_eq!(required.interaction.as_deref(), argument, "{id}");
    }
}

fn borrowed(words: &BTreeSet<String>) -> BTreeSet<&str> {
    words.iter().map(String::as_str).collect()
}

#[test]
fn each_tool_is_redacted_where_it_is_recorded() {
    let registry = registry();
    let catalog = registry.catalog();
    let told = registry.actions().map(|(id, _)| {
        let paths = catalog.redactions_of(id.as_str()).iter();
        let paths = paths.map(|(path, marker)| (path.clone(), json!(marker)));
        (id.to_string(), paths.collect())
    });
    let told: BTreeMap<String, Map<String, Value>> = told.collect();
    let of = |tool: &Value| match &tool["redact"] {
        Value::Object(paths) => paths.clone(),
        _ => Map::new(),
    };
    let recorded = recorded_tools();
    let recorded = recorded
        .iter()
        .map(|tool| (tool["id"].as_str().unwrap().to_owned(), of(tool)));
    assert_eq!(told, recorded.collect());
    assert_eq!(told.values().map(Map::len).sum::<usize>(), 3);
}

#[test]
fn exactly_what_reads_says_that_it_only_reads_and_nothing_waits_for_the_owner() {
    let catalog = registry().catalog();
    for tool in recorded_tools() {
        let id = tool["id"].as_str().unwrap();
        let descriptor = catalog.tool_descriptor_for(id).unwrap();
        let only_reads = tool["effect"] == "read";
        assert_eq!(descriptor.hints.read_only, only_reads, "{id}");
        assert!(!descriptor.approval_required, "{id}");
    }
}

/// Names, which of them are required, and the words of each enum.
fn outline(schema: &Value) -> BTreeMap<String, (bool, BTreeSet<String>)> {
    let required = words(&schema["required"]);
    let properties = schema["properties"].as_object().unwrap();
    let each = properties.iter().map(|(name, property)| {
        let reference = property["$ref"]
            .as_str()
            .map(|at| at.trim_start_matches('#'));
        let property = reference.map_or(property, |at| schema.pointer(at).unwrap());
        let named = property["enum"].as_array().into_iter().flatten();
        let named = named.map(|word| word.as_str().unwrap().to_owned());
        let is_required = required.contains(name.as_str());
        (name.clone(), (is_required, named.collect()))
    });
    each.collect()
}

#[test]
fn each_schema_has_the_recorded_names_requirements_and_enums() {
    let catalog = registry().catalog();
    for tool in recorded_tools() {
        let id = tool["id"].as_str().unwrap();
        let mut own = catalog
            .tool_descriptor_for(id)
            .unwrap()
            .parameters_schema
            .clone();
        let own = own.as_object_mut().unwrap();
        own.entry("required").or_insert(json!([]));
        let own = Value::Object(own.clone());
        assert_eq!(outline(&own), outline(&tool["input"]), "{id}");
    }
}

/// Values of every kind, and at the edges of what is recorded for a property.
fn values_for(property: &Value) -> Vec<Value> {
    let mut values = vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1),
        json!(2.0),
        json!(2.5),
        json!(4_294_967_296_u64),
        json!(9_007_199_254_740_991_u64),
        json!(""),
        json!("text"),
        json!([]),
        json!(["a", "b"]),
        json!(["a", null]),
        json!([1]),
        json!({}),
        json!({"a": "b"}),
        json!({"a": {"b": [1, null]}}),
    ];
    values.extend(property["enum"].as_array().into_iter().flatten().cloned());
    values
}

/// Arguments in every one of which one place differs from arguments that fit: each property with each
/// value, left out, and joined by one that nobody knows. Then each pair of properties, both changed.
fn arguments_for(input: &Value) -> Vec<Value> {
    let properties = input["properties"].as_object().unwrap();
    let fits = |property: &Value| {
        values_for(property)
            .into_iter()
            .rev()
            .find(|value| jsonschema::is_valid(property, value))
            .unwrap()
    };
    let full: Map<String, Value> = properties
        .iter()
        .map(|(name, property)| (name.clone(), fits(property)))
        .collect();
    let mut made = vec![Value::Object(full.clone()), json!({})];
    let with = |base: &Map<String, Value>, name: &str, value: Option<&Value>| {
        let mut changed = base.clone();
        match value {
            Some(value) => drop(changed.insert(name.to_owned(), value.clone())),
            None => drop(changed.remove(name)),
        }
        changed
    };
    made.push(with(&full, "of_no_one", Some(&json!(1))).into());
    for (name, property) in properties {
        let mut changes: Vec<_> = values_for(property).into_iter().map(Some).collect();
        changes.push(None);
        for change in &changes {
            let once = with(&full, name, change.as_ref());
            for (other, property) in properties.iter().filter(|(other, _)| *other > name) {
                for second in values_for(property).iter().map(Some).chain([None]) {
                    made.push(with(&once, other, second).into());
                }
            }
            made.push(once.into());
        }
    }
    made
}

#[test]
fn each_tool_takes_and_refuses_what_the_recorded_shape_does() {
    let registry = registry();
    let (mut taken, mut refused) = (0, 0);
    for tool in recorded_tools() {
        let id = tool["id"].as_str().unwrap();
        let recorded = jsonschema::validator_for(&tool["input"]).unwrap();
        for arguments in arguments_for(&tool["input"]) {
            let verdict = registry.check_arguments(id, &arguments);
            let expected = recorded.is_valid(&arguments);
            assert_eq!(verdict.is_ok(), expected, "{id}: {arguments}: {verdict:?}");
            *(if expected { &mut taken } else { &mut refused }) += 1;
        }
    }
    assert!(
        taken > 500 && refused > 5_000,
        "{taken} taken, {refused} refused"
    );
}
