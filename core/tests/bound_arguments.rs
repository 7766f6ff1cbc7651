//! Bound arguments: the gate holds every call to them, the view shows them, and neither ever says
//! more than the other.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test says where it fails"
)]

mod support;

use std::sync::Arc;

use actum::gate::{DenialReason, Evidence, Origin, Request, Verdict, exposure, gate};
use actum::grant::{Attenuation, Caveat, SealKey};
use actum::schema::{CompiledSchema, normal_form};
use actum::{
    ActionCatalog, ActionId, Bound, BoundArgument, EgressDeclaration, Hints, SealedGrant,
    TaskGrant, ToolDescriptor, VerifiedGrant, project,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn id() -> ActionId {
    ActionId::parse("mail.send").unwrap()
}

fn schema() -> Value {
    normal_form(json!({
        "type": "object",
        "properties": {
            "to": {"type": "string", "description": "Who gets it."},
            "cc": {"type": "array", "items": {"type": "string"}},
            "copies": {"type": "integer", "minimum": 1, "maximum": 9},
            "folder": {"type": ["string", "null"], "maxLength": 40},
            "letter": {"$ref": "#/$defs/Letter"},
            "second": {"$ref": "#/$defs/Letter", "description": "Another."},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "how": {"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "fast"}, "fee": {"type": "integer"}}, "required": ["kind"]},
                {"type": "object", "properties": {"kind": {"const": "slow"}}, "required": ["kind"]},
            ]},
        },
        "required": ["to"],
        "$defs": {"Letter": {
            "type": "object",
            "properties": {"subject": {"type": "string"}, "body": {"type": "string"}},
            "required": ["body"],
        }},
    }))
    .unwrap()
}

fn catalog() -> ActionCatalog {
    let tool = ToolDescriptor {
        name: "mail-send".into(),
        description: "Send a mail.".into(),
        parameters_schema: schema(),
        approval_required: false,
        selection_token_required: false,
        idempotency_key_required: false,
        title: None,
        output_schema: None,
        hints: Hints::NONE,
    };
    ActionCatalog::new([id()])
        .with_tool_descriptors([(id(), tool)].into())
        .with_egress_declarations([(id(), EgressDeclaration::default())].into())
}

fn bound(at: &str, to: Bound) -> BoundArgument {
    BoundArgument {
        action: id(),
        at: at.to_owned(),
        to,
        may_be_absent: false,
    }
}

fn one_of(at: &str, values: Value) -> BoundArgument {
    bound(at, Bound::OneOf(values.as_array().unwrap().clone()))
}

fn within(at: &str, start: &str) -> BoundArgument {
    bound(at, Bound::Within(start.to_owned()))
}

fn optional(bound: BoundArgument) -> BoundArgument {
    BoundArgument {
        may_be_absent: true,
        ..bound
    }
}

fn grant(bounds: Vec<BoundArgument>, steps: Vec<Attenuation>) -> VerifiedGrant {
    let key = SealKey::new([7; 32]);
    let grant = TaskGrant {
        allowed_actions: [id()].into(),
        bound_arguments: bounds,
        mandate: None,
        ..support::nothing_until(support::at(3600))
    };
    let sealed = SealedGrant::seal(grant, &key).unwrap();
    let sealed = steps
        .into_iter()
        .fold(sealed, |sealed, step| sealed.attenuate(step).unwrap());
    // As it is stored and read again.
    let stored = serde_json::to_string(&sealed).unwrap();
    let sealed: SealedGrant = serde_json::from_str(&stored).unwrap();
    sealed.verify(&key).unwrap()
}

fn passes(grant: &VerifiedGrant, arguments: &Value) -> bool {
    let request = Arc::new(Request {
        action: "mail.send".to_owned(),
        arguments: arguments.as_object().unwrap().clone(),
        payload_digest: None,
        target_digest: None,
        selection_token: None,
        origin: Origin::Worker,
    });
    match gate(
        grant,
        &request,
        &catalog(),
        Evidence::default(),
        grant.root().issued_at,
    ) {
        Verdict::Allow(_) => true,
        Verdict::Deny(DenialReason::CaveatWidening) => false,
        other => panic!("{arguments}: {other:?}"),
    }
}

/// The schema that the view shows; `None` where it does not show the tool.
fn shown(grant: &VerifiedGrant) -> Option<Value> {
    let catalog = catalog();
    let view = project(grant, &catalog);
    let tool = view.tools().next()?;
    let mut written = String::new();
    view.write_tools(&mut written);
    let tools: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(tools[0]["parameters"], tool.descriptor().parameters_schema);
    Some(tools[0]["parameters"].clone())
}

fn only(bound: BoundArgument) -> VerifiedGrant {
    grant(vec![bound], vec![])
}

#[test]
fn a_value_is_fixed_and_shown_as_a_constant() {
    let grant = only(one_of("/to", json!(["ada"])));
    assert!(passes(&grant, &json!({"to": "ada", "copies": 3})));
    for refused in [
        json!({"to": "bob"}),
        json!({"to": ["ada"]}),
        json!({"to": null}),
        json!({"to": {"0": "ada"}}),
        json!({"to": "ada "}),
        json!({"to": "Ada"}),
        json!({}),
        json!({"copies": 3}),
    ] {
        assert!(!passes(&grant, &refused), "{refused}");
    }
    let schema = shown(&grant).unwrap();
    let expected = json!({"const": "ada", "type": "string", "description": "Who gets it."});
    assert_eq!(schema["properties"]["to"], expected);
}

#[test]
fn a_set_is_shown_as_an_enum_and_the_argument_is_required() {
    let grant = only(one_of("/copies", json!([1, 2.0, "many", 99])));
    assert!(passes(&grant, &json!({"to": "a", "copies": 2})));
    assert!(
        passes(&grant, &json!({"to": "a", "copies": 1.0})),
        "one number has one form"
    );
    assert!(!passes(&grant, &json!({"to": "a", "copies": 3})));
    assert!(!passes(&grant, &json!({"to": "a"})));
    let schema = shown(&grant).unwrap();
    // What the argument's own schema refuses is not offered.
    assert_eq!(schema["properties"]["copies"]["enum"], json!([1, 2]));
    assert_eq!(schema["required"], json!(["to", "copies"]));
}

#[test]
fn a_list_is_a_value_as_a_whole() {
    let grant = only(one_of("/cc", json!([["ada", "bob"]])));
    assert!(passes(&grant, &json!({"to": "a", "cc": ["ada", "bob"]})));
    for refused in [
        json!(["bob", "ada"]),
        json!(["ada"]),
        json!("ada"),
        json!(["ada", "bob", "eve"]),
    ] {
        assert!(
            !passes(&grant, &json!({"to": "a", "cc": refused})),
            "{refused}"
        );
    }
}

#[test]
fn what_may_be_absent_may_be_and_what_must_be_is_not_shown() {
    let grant = only(optional(one_of("/copies", json!([1]))));
    assert!(
        passes(&grant, &json!({"to": "a"})) && passes(&grant, &json!({"to": "a", "copies": 1}))
    );
    assert!(!passes(&grant, &json!({"to": "a", "copies": null})));
    assert_eq!(shown(&grant).unwrap()["required"], json!(["to"]));

    let grant = only(optional(one_of("/cc", json!([]))));
    assert!(passes(&grant, &json!({"to": "a"})));
    assert!(!passes(&grant, &json!({"to": "a", "cc": []})));
    assert!(shown(&grant).unwrap()["properties"].get("cc").is_none());
}

#[test]
fn a_place_inside_is_held_and_a_type_used_twice_is_narrowed_once() {
    let grant = only(one_of("/letter/subject", json!(["Hello"])));
    assert!(passes(
        &grant,
        &json!({"to": "a", "letter": {"subject": "Hello", "body": "b"}})
    ));
    assert!(!passes(
        &grant,
        &json!({"to": "a", "letter": {"body": "b"}})
    ));
    assert!(!passes(
        &grant,
        &json!({"to": "a", "second": {"subject": "Hello", "body": "b"}})
    ));
    let schema = shown(&grant).unwrap();
    let letter = &schema["properties"]["letter"];
    assert_eq!(letter["properties"]["subject"]["const"], "Hello");
    assert_eq!(letter["required"], json!(["body", "subject"]));
    assert_eq!(
        schema["properties"]["second"],
        json!({"$ref": "#/$defs/Letter", "description": "Another."})
    );
    assert_eq!(schema["required"], json!(["to", "letter"]));

    let grant = only(one_of("/labels/kind", json!(["private"])));
    assert!(passes(
        &grant,
        &json!({"to": "a", "labels": {"kind": "private", "x": "y"}})
    ));
    assert_eq!(
        shown(&grant).unwrap()["properties"]["labels"]["properties"]["kind"]["const"],
        "private"
    );

    let grant = only(one_of("/how/kind", json!(["slow"])));
    let how = &shown(&grant).unwrap()["properties"]["how"]["oneOf"];
    assert_eq!(how.as_array().unwrap().len(), 1, "{how}");
}

#[test]
fn the_arguments_as_a_whole_are_one_of_these() {
    let grant = only(one_of(
        "",
        json!([{"to": "ada"}, {"to": "bob", "copies": 2}, {"to": "ada"}]),
    ));
    assert!(passes(&grant, &json!({"to": "ada"})));
    assert!(passes(&grant, &json!({"copies": 2.0, "to": "bob"})));
    for refused in [
        json!({"to": "bob"}),
        json!({"to": "ada", "copies": 2}),
        json!({}),
    ] {
        assert!(!passes(&grant, &refused), "{refused}");
    }
    let schema = shown(&grant).unwrap();
    assert_eq!(schema["properties"]["to"]["enum"], json!(["ada", "bob"]));
    assert_eq!(schema["required"], json!(["to"]));
    assert!(schema["properties"].get("cc").is_none());
}

#[test]
fn a_start_goes_on_with_whole_segments_only() {
    for start in ["mail/in", "mail/in/"] {
        let grant = only(within("/folder", start));
        for good in ["mail/in/a", "mail/in/a/b.c", "mail/in/..."] {
            assert!(
                passes(&grant, &json!({"to": "a", "folder": good})),
                "{good}"
            );
        }
        for bad in [
            "mail/inbox",
            "mail",
            "mail/in/../out",
            "mail/in/./a",
            "mail/in//a",
            "mail/in/a/",
            "mail/in/%2e%2e/out",
            "mail/in/%2E./out",
            "mail/in/a%2fb",
            "mail/in/..\\out",
            "mail/in/%252e%252e/x",
            "x/mail/in/a",
            "mail/in/a\n",
            "MAIL/in/a",
        ] {
            assert!(!passes(&grant, &json!({"to": "a", "folder": bad})), "{bad}");
        }
        assert!(!passes(&grant, &json!({"to": "a", "folder": null})));
        assert!(!passes(
            &grant,
            &json!({"to": "a", "folder": ["mail/in/a"]})
        ));
        let folder = &shown(&grant).unwrap()["properties"]["folder"];
        assert_eq!(folder["type"], "string");
        assert_eq!(folder["maxLength"], 40);
        assert!(folder["description"].as_str().unwrap().contains(start));
    }
    assert!(passes(
        &only(within("/folder", "mail/in")),
        &json!({"to": "a", "folder": "mail/in"})
    ));
    let pattern =
        shown(&only(within("/folder", "a.b/(c)"))).unwrap()["properties"]["folder"]["pattern"]
            .clone();
    assert_eq!(pattern, "^a\\.b/\\(c\\)(/|$)");
}

#[test]
fn what_no_call_can_keep_is_absent() {
    for never in [
        one_of("/to", json!([])),
        one_of("/to", json!([5])),
        one_of("/copies", json!([0, 10])),
        one_of("/stranger", json!(["a"])),
        one_of("/to/deeper", json!(["a"])),
        one_of("/letter/stranger", json!(["a"])),
        one_of("", json!([{"copies": 1}, "text"])),
        optional(one_of("/to", json!([]))),
        within("/copies", "a"),
        within("/folder", "a text that is longer than the forty characters"),
        within("", "a"),
        // No pointers.
        one_of("to", json!(["ada"])),
        optional(one_of("to", json!(["ada"]))),
        optional(one_of("/a~2b", json!(["ada"]))),
    ] {
        let grant = only(never.clone());
        assert_eq!(shown(&grant), None, "{never:?}");
        let exposed = exposure(&grant, &catalog(), "mail.send");
        assert!(exposed.is_err(), "{never:?}");
    }
    // A malformed one lets nothing pass, whatever may be absent.
    for malformed in ["to", "/a~2b", "/a~", "#/to"] {
        assert!(
            !passes(
                &only(optional(one_of(malformed, json!([])))),
                &json!({"to": "a"})
            ),
            "{malformed}"
        );
    }
    // What the action does not take is kept by leaving it out.
    assert!(shown(&only(optional(one_of("/stranger", json!([]))))).is_some());
}

#[test]
fn bounds_of_a_grant_and_of_its_holders_all_hold() {
    let caveat = |bound| vec![Caveat::BoundArgument(bound)];
    let narrowed = grant(
        vec![one_of("/to", json!(["ada", "bob", "eve"]))],
        vec![
            caveat(one_of("/to", json!(["bob", "eve"]))),
            caveat(one_of("/to", json!(["bob", "mallory"]))),
        ],
    );
    assert!(passes(&narrowed, &json!({"to": "bob"})));
    for refused in ["ada", "eve", "mallory"] {
        assert!(!passes(&narrowed, &json!({"to": refused})), "{refused}");
    }
    assert_eq!(
        shown(&narrowed).unwrap()["properties"]["to"]["const"],
        "bob"
    );
    let nothing = grant(
        vec![one_of("/to", json!(["ada"]))],
        vec![caveat(one_of("/to", json!(["bob"])))],
    );
    assert!(!passes(&nothing, &json!({"to": "ada"})) && !passes(&nothing, &json!({"to": "bob"})));
    assert_eq!(shown(&nothing), None);
}

#[test]
fn a_parameter_bound_by_name_is_shown_too() {
    let caveat = Caveat::BoundParameter {
        name: "to".to_owned(),
        value: "ada".to_owned(),
    };
    let grant = grant(vec![], vec![vec![caveat]]);
    assert_eq!(shown(&grant).unwrap()["properties"]["to"]["const"], "ada");
}

#[test]
fn another_actions_bound_is_none_of_this_one() {
    let other = BoundArgument {
        action: ActionId::parse("mail.read").unwrap(),
        ..one_of("/to", json!([]))
    };
    let grant = only(other);
    assert!(passes(&grant, &json!({"to": "ada"})));
    assert_eq!(shown(&grant), Some(schema()));
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!("ada")),
        Just(json!("bob")),
        Just(json!("mail/in")),
        Just(json!("mail/in/a")),
        Just(json!("mail/in/../b")),
        Just(json!(1)),
        Just(json!(2.0)),
        Just(json!(["ada"])),
        Just(json!({"subject": "s", "body": "b"})),
        Just(json!({"body": "b"})),
        Just(json!({"kind": "slow"})),
        Just(json!({"kind": "fast", "fee": 1})),
    ]
}

fn arguments() -> impl Strategy<Value = Value> {
    let names = [
        "to", "cc", "copies", "folder", "letter", "second", "labels", "how", "stranger",
    ];
    let entry = (proptest::sample::select(names.to_vec()), values());
    proptest::collection::vec(entry, 0..5).prop_map(|entries| {
        let map: Map<String, Value> = entries
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        Value::Object(map)
    })
}

fn bounds() -> impl Strategy<Value = BoundArgument> {
    let places = [
        "/to",
        "/cc",
        "/copies",
        "/folder",
        "/letter",
        "/letter/subject",
        "/second/body",
        "/labels/x",
        "/how/kind",
        "/stranger",
    ];
    let to = prop_oneof![
        3 => proptest::collection::vec(values(), 0..4).prop_map(Bound::OneOf),
        1 => Just(Bound::Within("mail/in".to_owned())),
    ];
    (proptest::sample::select(places.to_vec()), to, any::<bool>()).prop_map(
        |(at, to, may_be_absent)| BoundArgument {
            may_be_absent,
            ..bound(at, to)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// What the gate and the kernel's schema let through is what the shown schema takes, but for the
    /// rest of a text after its start, which no pattern says; and a tool is absent only when nothing
    /// gets through.
    #[test]
    fn the_view_says_what_the_gate_lets_through(
        bounds in proptest::collection::vec(bounds(), 0..3),
        arguments in arguments(),
    ) {
        let has_start = bounds.iter().any(|bound| matches!(bound.to, Bound::Within(_)));
        let grant = grant(bounds, vec![]);
        let fits = CompiledSchema::new(&schema()).unwrap().check(&arguments).is_ok();
        let passes = passes(&grant, &arguments) && fits;
        let shown = shown(&grant).is_some_and(|shown| CompiledSchema::new(&shown).unwrap().check(&arguments).is_ok());
        if passes {
            prop_assert!(shown, "passes and is not shown");
        }
        if shown && !has_start {
            prop_assert!(passes, "is shown and does not pass");
        }
    }

    /// A further bound never lets through what was refused.
    #[test]
    fn a_bound_only_takes_away(
        first in proptest::collection::vec(bounds(), 0..3),
        more in bounds(),
        arguments in arguments(),
    ) {
        let before = grant(first.clone(), vec![]);
        let after = grant(first, vec![vec![Caveat::BoundArgument(more)]]);
        prop_assert!(!passes(&after, &arguments) || passes(&before, &arguments));
        if shown(&after).is_some() {
            prop_assert!(shown(&before).is_some());
        }
    }
}
