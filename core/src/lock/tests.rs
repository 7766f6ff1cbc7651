//! The lock as a file, and what a comparison says of each kind of change.

mod requirements;

use std::collections::BTreeMap;

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::subset::{Plain, label};
use super::{Change, Label, LockedAction, NoSurface, SurfaceLock, compare, parameters, tally};
use crate::catalog::{ActionCatalog, EgressDeclaration};
use crate::descriptor::{Hints, ToolDescriptor};
use crate::id::{ActionId, ToolName};

fn id(text: &str) -> ActionId {
    ActionId::parse(text).unwrap()
}

fn tool(name: &str) -> ToolDescriptor {
    ToolDescriptor {
        name: ToolName::of(&id(name)).to_string(),
        description: "Does.".into(),
        parameters_schema: json!({
            "type": "object",
            "properties": {"count": {"type": "integer", "minimum": 1, "maximum": 50, "description": "How many."}},
            "required": ["count"],
            "additionalProperties": false,
        }),
        approval_required: false,
        selection_token_required: false,
        idempotency_key_required: false,
        title: Some("Title".into()),
        output_schema: Some(json!({"type": "object"})),
        hints: Hints {
            read_only: true,
            ..Hints::NONE
        },
    }
}

fn catalog(names: &[&str]) -> ActionCatalog {
    let ids: Vec<ActionId> = names
        .iter()
        .map(|name| id(name))
        .chain([id("known.one")])
        .collect();
    let descriptors = names.iter().map(|name| (id(name), tool(name)));
    let channel = EgressDeclaration {
        egress_class: None,
        output_channels: Some(["owner".to_owned()].into()),
    };
    ActionCatalog::new(ids.clone())
        .with_tool_descriptors(descriptors.collect())
        .with_egress_declarations(ids.into_iter().map(|id| (id, channel.clone())).collect())
        .with_undispatchable([id("known.one")].into())
}

fn surface() -> SurfaceLock {
    SurfaceLock::of(&catalog(&["b.two", "a.one:x"])).unwrap()
}

/// The surface with its second action changed, by the API that keeps the digest right.
fn changed(change: impl FnOnce(&mut LockedAction)) -> SurfaceLock {
    let mut surface = surface();
    change(&mut surface.actions[1]);
    surface.actions[1] = surface.actions[1].clone().sealed().unwrap();
    surface
}

fn lines(changes: &[Change]) -> Vec<String> {
    changes.iter().map(ToString::to_string).collect()
}

// ---- the file ----

#[test]
fn the_text_is_stable_and_reads_back_as_the_same_surface() {
    let text = surface().to_text().unwrap();
    assert_eq!(
        text,
        SurfaceLock::of(&catalog(&["a.one:x", "b.two"]))
            .unwrap()
            .to_text()
            .unwrap()
    );
    let read = SurfaceLock::read("actum.lock.json", &text).unwrap();
    assert_eq!(read, surface());
    assert_eq!(read.to_text().unwrap(), text);
    assert!(text.ends_with("\n") && !text.ends_with("\n\n"));
    assert!(text.lines().count() > 60, "one thing a line:\n{text}");
    let ids: Vec<&str> = read
        .actions
        .iter()
        .map(|action| action.id.as_str())
        .collect();
    assert_eq!(ids, ["a.one:x", "b.two"]);
    assert_eq!(read.known, [id("known.one")].into());
}

#[test]
fn numbers_and_texts_of_every_kind_read_back() {
    let surface = changed(|action| {
        action.description = "Quote \" back \\ tab \t line \u{2028} emoji 🦀 # : {}".into();
        action.parameters = json!({
            "maximum": u64::MAX, "minimum": i64::MIN, "multipleOf": 0.1, "exclusiveMaximum": f64::MAX,
            "enum": [1.0, -0.0, 1e-7, "", "null", "yes", "0x10", "~", null, true, [], {}],
        });
    });
    let text = surface.to_text().unwrap();
    assert_eq!(SurfaceLock::read("l", &text).unwrap(), surface);
}

#[test]
fn all_faults_of_a_file_are_told_at_once_with_their_place() {
    let text = surface()
        .to_text()
        .unwrap()
        .replace("\"version\": 1", "\"version\": 7")
        .replacen(
            "\"description\": \"Does.\"",
            "\"description\": \"Does more.\"",
            1,
        )
        .replacen("\"maximum\": 50", "\"maximum\": 5000", 1);
    let told = SurfaceLock::read("l.json", &text).unwrap_err().to_string();
    assert!(
        told.contains("l.json:2:14: field `version`: this is format 7, and 1 is read"),
        "{told}"
    );
    assert!(
        told.contains("field `actions[0].digest`: the entry of `a.one:x` was changed by hand"),
        "{told}"
    );
    assert!(told.contains("version control"), "{told}");
    assert_eq!(told.lines().count(), 2, "{told}");

    let text = surface()
        .to_text()
        .unwrap()
        .replacen(
            "\"approval_required\": false",
            "\"aproval_required\": false",
            1,
        )
        .replacen("\"non_delegable\": false", "\"non_delegable\": \"no\"", 1)
        .replacen("\"id\": \"b.two\"", "\"id\": \"B.Two\"", 1)
        .replacen("\"known\": [", "\"known\": [ \"x.y\"", 1);
    let told = SurfaceLock::read("l.json", &text.replace("x.y\"", "x.y\","))
        .unwrap_err()
        .to_string();
    for wanted in [
        "field `actions[0].approval_required`: it is missing",
        "field `actions[0].aproval_required`: there is no such field; did you mean `approval_required`?",
        "field `actions[0].non_delegable`: expected true or false",
        "field `actions[1].id`: this is no action id",
    ] {
        let line = told.lines().find(|line| line.contains(wanted));
        let line = line.unwrap_or_else(|| panic!("{wanted} in\n{told}"));
        assert!(
            line.split(':')
                .nth(1)
                .is_some_and(|it| it.parse::<usize>().unwrap() > 3),
            "{line}"
        );
    }
    for broken in ["", "[]", "{", "{\"version\": 1}", "nonsense"] {
        assert!(SurfaceLock::read("l.json", broken).is_err(), "{broken}");
    }
}

#[test]
fn an_entry_that_stands_twice_or_a_key_that_does_is_a_fault() {
    let mut twice = surface();
    twice.actions.push(twice.actions[0].clone());
    let told = SurfaceLock::read("l", &twice.to_text().unwrap())
        .unwrap_err()
        .to_string();
    assert!(told.contains("a second entry of `a.one:x`"), "{told}");
    let text = surface().to_text().unwrap().replacen(
        "\"maximum\": 50",
        "\"maximum\": 9,\n\"maximum\": 50",
        1,
    );
    let told = SurfaceLock::read("l", &text).unwrap_err().to_string();
    assert!(told.contains("this key is given twice"), "{told}");
}

#[test]
fn every_part_of_an_entry_is_under_its_digest() {
    let sealed = surface().actions[1].clone();
    let fields = serde_json::to_value(&sealed).unwrap();
    let text = surface().to_text().unwrap();
    for field in fields.as_object().unwrap().keys() {
        // One field of the second entry after the other takes another value of its kind.
        let mut lock: Value = serde_json::from_str(&text).unwrap();
        let value = &mut lock["actions"][1][field];
        *value = match (field.as_str(), &*value) {
            ("id", _) => json!("c.three"),
            ("digest", _) => json!(surface().actions[0].digest),
            ("egress", _) => Value::Null,
            ("hints", _) => json!({}),
            (_, Value::Bool(flag)) => json!(!flag),
            (_, Value::String(_)) => json!("Other"),
            _ => json!({"type": "object", "x": 1}),
        };
        let told = SurfaceLock::read("l", &lock.to_string())
            .unwrap_err()
            .to_string();
        assert!(told.contains("was changed by hand"), "{field}: {told}");
    }
}

#[test]
fn a_catalog_that_is_not_complete_has_no_surface() {
    let catalog = catalog(&["a.one", "b.two"]).with_tool_descriptors(BTreeMap::new());
    let fault = SurfaceLock::of(&catalog).unwrap_err();
    assert!(matches!(&fault, NoSurface::Undescribed(ids) if ids.len() == 2));
    assert!(fault.to_string().contains("`a.one`, `b.two`"), "{fault}");
}

#[test]
fn who_accepted_what_and_why_stays_and_adds_up() {
    let at: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
    let first = changed(|action| action.approval_required = true);
    let second = changed(|action| action.description = "Does more.".into());
    let once = first.accepted_by(&surface(), "Robin", "Safer.", at);
    let twice = second.accepted_by(&once, "Kim", "Clearer.", at);
    let read = SurfaceLock::read("l", &twice.to_text().unwrap()).unwrap();
    assert_eq!(read, twice);
    let told: Vec<(&str, &str, usize)> = read
        .accepted
        .iter()
        .map(|it| (it.by.as_str(), it.reason.as_str(), it.changes.len()))
        .collect();
    assert_eq!(told, [("Robin", "Safer.", 1), ("Kim", "Clearer.", 2)]);
    assert_eq!(
        read.accepted[0].changes,
        ["`b.two`: approval_required: every call waits for the owner now: narrows"]
    );
    assert!(
        twice
            .to_text()
            .unwrap()
            .contains("\"at\": \"2026-01-31T12:00:00Z\"")
    );
}

// ---- what a change does ----

#[test]
fn actions_that_come_and_go() {
    let one = SurfaceLock::of(&catalog(&["a.one"])).unwrap();
    let two = SurfaceLock::of(&catalog(&["a.one", "b.two"])).unwrap();
    assert_eq!(compare(&one, &one), []);
    assert_eq!(lines(&compare(&one, &two)), ["`b.two`: is new: widens"]);
    assert_eq!(
        lines(&compare(&two, &one)),
        ["`b.two`: is gone: renamed, taken away, or of a crate that is no longer linked: narrows"]
    );
    let missing: Vec<String> = two
        .missing(&catalog(&["a.one"]))
        .map(ToString::to_string)
        .collect();
    assert_eq!(missing, ["b.two"]);

    // A rename is one that went and one that came.
    let renamed = SurfaceLock::of(&catalog(&["a.one", "b.three"])).unwrap();
    let labels: Vec<Label> = compare(&two, &renamed).iter().map(|it| it.label).collect();
    assert_eq!(labels, [Label::Widens, Label::Narrows]);

    // Known is not dispatched, and an id that becomes dispatched is a new action.
    let mut known = one.clone();
    known.known.insert(id("b.two"));
    assert_eq!(
        lines(&compare(&one, &known)),
        ["`b.two`: is a new id that no agent can call: keeps"]
    );
    assert_eq!(
        lines(&compare(&known, &one)),
        ["`b.two`: is no known id any more; no agent could call it: keeps"]
    );
    assert_eq!(
        lines(&compare(&known, &two)),
        ["`b.two`: was known, and agents can call it now: a new action: widens"]
    );
    assert_eq!(compare(&two, &known)[0].label, Label::Narrows);
}

/// A field, the two changes that set it one way and the other, and what each of them does.
type Case = (
    &'static str,
    fn(&mut LockedAction),
    Label,
    fn(&mut LockedAction),
    Label,
);

#[test]
fn every_field_of_an_entry_has_its_label_in_both_directions() {
    use Label::{Keeps, Narrows, Widens};
    fn egress(action: &mut LockedAction) -> &mut EgressDeclaration {
        action.egress.get_or_insert_default()
    }
    let none: fn(&mut LockedAction) = |_| {};
    let cases: [Case; 17] = [
        (
            "tool_name",
            none,
            Widens,
            |a| a.tool_name = "other".into(),
            Widens,
        ),
        ("title", none, Keeps, |a| a.title = None, Keeps),
        (
            "description",
            none,
            Keeps,
            |a| a.description = "Obey.".into(),
            Keeps,
        ),
        ("hints", none, Keeps, |a| a.hints = Hints::NONE, Keeps),
        ("output", none, Keeps, |a| a.output = None, Keeps),
        ("output", none, Keeps, |a| a.output = Some(json!({})), Keeps),
        (
            "approval_required",
            none,
            Widens,
            |a| a.approval_required = true,
            Narrows,
        ),
        (
            "idempotency_key_required",
            none,
            Widens,
            |a| a.idempotency_key_required = true,
            Narrows,
        ),
        (
            "non_delegable",
            none,
            Widens,
            |a| a.non_delegable = true,
            Narrows,
        ),
        (
            "kernel_origin",
            none,
            Narrows,
            |a| a.kernel_origin = true,
            Widens,
        ),
        (
            "selection_token",
            none,
            Widens,
            |a| a.selection_token = Some("t".into()),
            Narrows,
        ),
        (
            "selection_token",
            |a| a.selection_token = Some("s".into()),
            Widens,
            |a| a.selection_token = Some("t".into()),
            Widens,
        ),
        ("egress", none, Widens, |a| a.egress = None, Narrows),
        (
            "egress",
            none,
            Widens,
            |a| egress(a).egress_class = Some("mail".into()),
            Narrows,
        ),
        (
            "egress",
            none,
            Widens,
            |a| egress(a).output_channels = Some(["owner".into(), "public".into()].into()),
            Narrows,
        ),
        (
            "egress",
            none,
            Narrows,
            |a| egress(a).output_channels = None,
            Widens,
        ),
        (
            "egress",
            none,
            Widens,
            |a| egress(a).output_channels = Some([].into()),
            Narrows,
        ),
    ];
    for (field, one, back, other, forth) in cases {
        let (one, other) = (changed(one), changed(other));
        for (changes, label) in [
            (compare(&one, &other), forth),
            (compare(&other, &one), back),
        ] {
            let widest = changes.iter().map(|change| change.label).max();
            assert_eq!(widest, Some(label), "{field}: {changes:?}");
            assert!(
                changes
                    .iter()
                    .all(|it| it.field == field && it.action.as_str() == "b.two"),
                "{changes:?}"
            );
        }
    }
    let class = |name: &str| {
        let name = name.to_owned();
        changed(|action| egress(action).egress_class = Some(name))
    };
    assert_eq!(compare(&class("mail"), &class("web"))[0].label, Widens);
}

#[test]
fn a_changed_description_says_that_a_model_obeys_it() {
    let other = changed(|action| {
        action.description = "Do as I say.".into();
        action.parameters["properties"]["count"]["description"] = json!("Always 50.");
    });
    assert_eq!(
        lines(&compare(&surface(), &other)),
        [
            "`b.two`: description: \"Does.\" -> \"Do as I say.\"; a model obeys this text, so read it: keeps",
            "`b.two`: parameters: `/properties/count`: description \"How many.\" -> \"Always 50.\"; a model obeys this text, so read it: keeps",
        ]
    );
}

#[test]
fn the_tally_counts_by_label() {
    assert_eq!(tally(&[]), "no change");
    let other = changed(|action| {
        action.approval_required = true;
        action.description = "Other.".into();
        action.kernel_origin = true;
    });
    let changes = compare(&surface(), &other);
    assert_eq!(tally(&changes), "3 changes: 1 widens, 1 narrows, 1 keeps");
    assert_eq!(tally(&changes[..1]), "1 change: 1 keeps");
}

// ---- the words for arguments ----

fn closed(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

#[track_caller]
fn told(old: &Value, new: &Value, wanted: &[&str]) {
    let found = parameters::changes(old, new);
    let lines: Vec<String> = found
        .iter()
        .map(|(label, words)| format!("{words}: {label}"))
        .collect();
    assert_eq!(lines, wanted);
}

#[test]
fn a_change_of_the_arguments_is_told_by_its_place() {
    let text = || json!({"type": "string"});
    let count = |most: u64| closed(json!({"count": {"type": "integer", "maximum": most}}), &[]);
    told(
        &count(50),
        &count(100),
        &["`/properties/count`: maximum 50 -> 100: widens"],
    );
    told(
        &count(100),
        &count(50),
        &["`/properties/count`: maximum 100 -> 50: narrows"],
    );
    let x = closed(json!({"x": text()}), &[]);
    let both = closed(json!({"x": text(), "limit": text()}), &[]);
    told(&x, &both, &["argument `limit` is new: widens"]);
    told(&both, &x, &["argument `limit` is gone: narrows"]);
    let must = closed(json!({"x": text(), "limit": text()}), &["limit"]);
    told(&both, &must, &["argument `limit` is required now: narrows"]);
    told(
        &must,
        &both,
        &["argument `limit` is not required any more: widens"],
    );
    // A renamed argument.
    told(
        &closed(json!({"body": text()}), &[]),
        &closed(json!({"text": text()}), &[]),
        &[
            "argument `body` is gone: narrows",
            "argument `text` is new: widens",
        ],
    );
    told(
        &closed(json!({"body": text()}), &["body"]),
        &closed(json!({"text": text()}), &["text"]),
        &[
            "argument `body` is gone: narrows",
            "argument `text` is new: widens",
            "argument `text` is required now: narrows",
            "argument `body` was required, and a call without it passes now: widens",
        ],
    );
    let choice = |values: &[&str]| closed(json!({"x": {"enum": values}}), &[]);
    told(
        &choice(&["a", "b"]),
        &choice(&["b", "c"]),
        &[
            "`/properties/x`: the value \"c\" is new: widens",
            "`/properties/x`: the value \"a\" is gone: narrows",
        ],
    );
    told(
        &closed(json!({"x": {"type": "string"}}), &[]),
        &closed(json!({"x": {"type": ["string", "null"]}}), &[]),
        &["`/properties/x`: type \"string\" -> [\"string\",\"null\"]: widens"],
    );
    told(
        &closed(json!({"x": {"type": "string", "pattern": "^a"}}), &[]),
        &closed(json!({"x": {"type": "string", "pattern": "^b"}}), &[]),
        &["`/properties/x`: pattern \"^a\" -> \"^b\": widens"],
    );
    told(
        &x,
        &json!({"type": "object", "properties": {"x": text()}}),
        &["unknown names are taken now: widens"],
    );
    told(
        &json!({"type": "object", "properties": {}}),
        &json!({"type": "object", "properties": {"x": text()}}),
        &["argument `x` is new, and was taken as any other name: narrows"],
    );
}

#[test]
fn a_change_in_a_definition_or_an_alternative_is_told_once_where_it_stands() {
    let tree = |most: u64| {
        json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/Node"}, "b": {"$ref": "#/$defs/Node"}},
            "additionalProperties": false,
            "$defs": {"Node": closed(
                json!({"size": {"type": "integer", "maximum": most}, "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}}),
                &["size"],
            )},
        })
    };
    told(
        &tree(5),
        &tree(6),
        &["`/$defs/Node/properties/size`: maximum 5 -> 6: widens"],
    );
    told(
        &tree(6),
        &tree(5),
        &["`/$defs/Node/properties/size`: maximum 6 -> 5: narrows"],
    );

    let variant = |tag: &str, most: u64| {
        closed(
            json!({"kind": {"const": tag}, "n": {"type": "integer", "maximum": most}}),
            &["kind"],
        )
    };
    let variants = |list: Value| closed(json!({"x": {"oneOf": list}}), &[]);
    let old = variants(json!([variant("a", 5), variant("b", 5)]));
    told(
        &old,
        &variants(json!([variant("b", 9), variant("a", 5)])),
        &["`/properties/x/oneOf/0/properties/n`: maximum 5 -> 9: widens"],
    );
    told(
        &old,
        &variants(json!([variant("a", 5), variant("b", 5), variant("c", 5)])),
        &["`/properties/x`: the alternative `kind`: \"c\" is new: widens"],
    );
    told(
        &old,
        &variants(json!([variant("a", 5)])),
        &["`/properties/x`: the alternative `kind`: \"b\" is gone: narrows"],
    );
}

#[test]
fn what_no_single_step_explains_is_told_at_its_place() {
    let with = |name: &str| json!({"type": "object", "required": [name]});
    let one_of = |list: Value| closed(json!({"x": {"oneOf": list}}), &[]);
    // A value with both names was refused, and is taken now.
    told(
        &one_of(json!([with("a"), with("b")])),
        &one_of(json!([with("a")])),
        &[
            "`/properties/x`: the alternative with `b` is gone: narrows",
            "`/properties/x`: is not proved to take no more than before: widens",
        ],
    );
}

#[test]
fn another_spelling_of_the_same_arguments_keeps_and_says_so() {
    let named = |name: &str| {
        let target = format!("#/$defs/{name}");
        json!({"type": "object", "properties": {"x": {"$ref": target}}, "$defs": {name: {"type": "string"}}})
    };
    told(
        &named("A"),
        &named("B"),
        &["is written otherwise, and takes the same arguments: keeps"],
    );
    told(
        &closed(json!({"a": {}, "b": {}}), &["a", "b"]),
        &closed(json!({"a": {}, "b": {}}), &["b", "a"]),
        &["is written otherwise, and takes the same arguments: keeps"],
    );
    // Two rules that say together what one said before.
    told(
        &closed(
            json!({"x": {"type": "integer", "exclusiveMinimum": 0}}),
            &[],
        ),
        &closed(json!({"x": {"type": "integer", "minimum": 1}}), &[]),
        &[
            "`/properties/x`: exclusiveMinimum 0 -> none: keeps",
            "`/properties/x`: minimum none -> 1: keeps",
        ],
    );
    told(
        &json!({"type": "object", "$id": "a"}),
        &json!({"type": "object", "$id": "b"}),
        &[
            "changed, and cannot be compared: it is too deep, or has its own `$id`, `$anchor`, `$schema` or the like: widens",
        ],
    );
}

proptest! {
    #[test]
    fn the_places_say_what_the_whole_does((old, new) in super::subset::tests::random::pair()) {
        let found = parameters::changes(&old, &new);
        prop_assert_eq!(found.is_empty(), old == new);
        let (plain_old, plain_new) = (Plain::of(&old), Plain::of(&new));
        let whole = label(plain_new.at("").unwrap(), plain_old.at("").unwrap());
        let has = |wanted: Label| found.iter().any(|(label, _)| *label == wanted);
        prop_assert_eq!(has(Label::Widens), whole == Label::Widens && old != new, "{:?}\nold {}\nnew {}", found, old, new);
        prop_assert!(whole != Label::Narrows || has(Label::Narrows), "{found:?}\nold {old}\nnew {new}");
    }
}
