//! What an action requires of an actor, in the lock.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{catalog, changed, id, lines, surface};
use crate::authority::Mandate;
use crate::authority::claims::unmet;
use crate::catalog::ActionCatalog;
use crate::lock::{Label, LockedAction, SurfaceLock, compare, requirements};
use crate::requirement::{Class, EscapeHatch, Requirements};

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[allow(clippy::unnecessary_wraps, reason = "it is what stands in the field")]
fn hatch(method: &str, path: &str) -> Option<EscapeHatch> {
    let [method, path] = [method, path].map(str::to_owned);
    Some(EscapeHatch { method, path })
}

/// Of every kind something.
fn everything() -> Requirements {
    Requirements {
        class: Some(Class::Optional),
        claims: set(&["cases:send", "cases:write"]),
        roles: set(&["approver"]),
        modes: set(&["test"]),
        reads_secrets: true,
        escape_hatch: hatch("verb", "target"),
        interaction: Some("kind".to_owned()),
    }
}

/// The surface with these in its second action.
fn requiring(required: &Requirements) -> SurfaceLock {
    changed(|action| action.requirements = required.clone())
}

fn with_requirements(of: &str, required: Requirements) -> ActionCatalog {
    catalog(&["a.one:x", "b.two"]).with_requirements([(id(of), required)].into())
}

// ---- the file ----

#[test]
fn what_is_required_is_in_the_file_and_reads_back() {
    let lock = SurfaceLock::of(&with_requirements("b.two", everything())).unwrap();
    assert_eq!(lock, requiring(&everything()));
    let text = lock.to_text().unwrap();
    assert_eq!(SurfaceLock::read("l", &text).unwrap(), lock);
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        written["actions"][1]["requirements"],
        json!({
            "class": "optional", "claims": ["cases:send", "cases:write"], "roles": ["approver"],
            "modes": ["test"], "reads_secrets": true,
            "escape_hatch": {"method": "verb", "path": "target"}, "interaction": "kind",
        })
    );
    for class in [Class::Always, Class::ControlPlane, Class::Optional] {
        let lock = requiring(&Requirements::of(class));
        assert_eq!(
            SurfaceLock::read("l", &lock.to_text().unwrap()).unwrap(),
            lock
        );
    }
    let redacting = changed(|action| action.redactions = set(&["$.token", "$.items[*].key"]));
    let text = redacting.to_text().unwrap();
    assert_eq!(SurfaceLock::read("l", &text).unwrap(), redacting);
}

#[test]
fn a_lock_from_before_there_were_requirements_reads_as_one_without() {
    let text = surface().to_text().unwrap();
    for field in ["requirements", "redactions"] {
        assert!(!text.contains(field), "{text}");
    }
    // As it was written then: what requires nothing has the digest that it always had.
    let digest = "sha256:f55513c0d2f2aec0f2997f2c40b19e763782cbb554f317ee89c725696e1f8264";
    assert!(text.contains(digest), "{text}");
    let read = SurfaceLock::read("l", &text).unwrap();
    assert_eq!(read.actions[1].requirements, Requirements::default());
    assert_eq!(read.actions[1].redactions, set(&[]));
    let changes = compare(&read, &requiring(&everything()));
    let (first, rest) = changes.split_first().unwrap();
    assert_eq!(first.label, Label::Widens, "{first}");
    assert_eq!(rest.len(), 7, "{rest:#?}");
    assert!(
        rest.iter().all(|it| it.label == Label::Narrows),
        "{rest:#?}"
    );
}

#[test]
fn every_requirement_is_under_the_digest() {
    let mut lock = requiring(&everything());
    lock.actions[1].redactions = set(&["$.token"]);
    lock.actions[1] = lock.actions[1].clone().sealed().unwrap();
    let whole: Value = serde_json::from_str(&lock.to_text().unwrap()).unwrap();
    let required = whole["actions"][1]["requirements"].as_object().unwrap();
    assert_eq!(required.len(), 7);
    let refused = |changed: &Value, what: &str| {
        let told = SurfaceLock::read("l", &changed.to_string()).unwrap_err();
        assert!(
            told.to_string().contains("was changed by hand"),
            "{what}: {told}"
        );
    };
    for field in required.keys() {
        let mut without = whole.clone();
        let entry = &mut without["actions"][1]["requirements"];
        entry.as_object_mut().unwrap().remove(field);
        refused(&without, field);
    }
    for field in ["requirements", "redactions"] {
        let mut without = whole.clone();
        let entry = without["actions"][1].as_object_mut().unwrap();
        entry.remove(field);
        refused(&without, field);
    }
}

#[test]
fn faults_of_requirements_are_told_with_their_place_all_at_once() {
    let text = requiring(&everything())
        .to_text()
        .unwrap()
        .replace("\"optional\"", "\"optinal\"")
        .replace("\"reads_secrets\": true", "\"reads_secrets\": \"yes\"")
        .replace("\"method\":", "\"methode\":")
        .replace("\"roles\":", "\"rolls\":");
    let told = SurfaceLock::read("l", &text).unwrap_err().to_string();
    for wanted in [
        "`actions[1].requirements.class`: `optinal` is not allowed here; did you mean `optional`?",
        "`actions[1].requirements.reads_secrets`: expected true or false",
        "`actions[1].requirements.escape_hatch.methode`: there is no such field; did you mean `method`?",
        "`actions[1].requirements.escape_hatch.method`: it is missing",
        "`actions[1].requirements.rolls`: there is no such field; did you mean `roles`?",
    ] {
        assert!(told.contains(wanted), "{wanted} in\n{told}");
    }
    assert_eq!(told.lines().count(), 5, "{told}");
}

// ---- what no agent can call ----

#[test]
fn what_is_the_control_planes_own_is_known_and_is_not_locked_as_an_action() {
    let tools = |names: &[&str]| {
        let whole = catalog(&["a.one:x", "b.two"]);
        let of = names.iter().map(|name| {
            let tool = whole.tool_descriptor_for(name).unwrap().clone();
            (id(name), tool)
        });
        of.collect()
    };
    let owned = with_requirements("b.two", Requirements::of(Class::ControlPlane))
        .with_tool_descriptors(tools(&["a.one:x"]));
    let lock = SurfaceLock::of(&owned).unwrap();
    assert!(lock.action("b.two").is_none());
    assert_eq!(lock.known, [id("b.two"), id("known.one")].into());
    assert_eq!(
        lines(&compare(&surface(), &lock)),
        ["`b.two`: is known still, and no agent can call it any more: narrows"]
    );
    assert_eq!(
        lines(&compare(&lock, &surface())),
        ["`b.two`: was known, and agents can call it now: a new action: widens"]
    );
    let missing: Vec<_> = surface().missing(&owned).cloned().collect::<Vec<_>>();
    assert_eq!(missing, [id("b.two")]);
}

// ---- what a change does ----

/// What the changes from one to the other are, without the action and the field.
#[track_caller]
fn told(one: &SurfaceLock, other: &SurfaceLock, field: &str, wanted: &[&str]) {
    let lines = lines(&compare(one, other));
    let start = format!("`b.two`: {field}: ");
    let words: Vec<_> = lines
        .iter()
        .map(|line| line.strip_prefix(start.as_str()).unwrap_or(line))
        .collect();
    assert_eq!(words, wanted);
}

#[test]
fn each_requirement_has_its_label_in_both_directions() {
    fn changing(change: impl FnOnce(&mut Requirements)) -> SurfaceLock {
        let mut required = everything();
        change(&mut required);
        requiring(&required)
    }
    let whole = requiring(&everything());
    let both = |other: SurfaceLock, back: &[&str], forth: &[&str]| {
        told(&other, &whole, "requirements", back);
        told(&whole, &other, "requirements", forth);
    };
    both(
        changing(|it| it.claims = set(&["cases:send", "cases:read"])),
        &[
            "an actor must hold the claim `cases:write` now: narrows",
            "an actor need not hold the claim `cases:read` any more: widens",
        ],
        &[
            "an actor must hold the claim `cases:read` now: narrows",
            "an actor need not hold the claim `cases:write` any more: widens",
        ],
    );
    both(
        changing(|it| it.roles = set(&["approver", "lead"])),
        &["it is not for the role `lead` any more: narrows"],
        &["it is for the role `lead` too now: widens"],
    );
    both(
        changing(|it| it.roles = set(&[])),
        &["it is for no role but `approver` now: narrows"],
        &["it is for every role now: widens"],
    );
    both(
        changing(|it| it.modes = set(&["drill"])),
        &[
            "it is for the task mode `test` too now: widens",
            "it is not for the task mode `drill` any more: narrows",
        ],
        &[
            "it is for the task mode `drill` too now: widens",
            "it is not for the task mode `test` any more: narrows",
        ],
    );
    both(
        changing(|it| it.modes = set(&[])),
        &["it is for no task mode but `test` now: narrows"],
        &["it is for every task mode now: widens"],
    );
    both(
        changing(|it| it.reads_secrets = false),
        &["policy decides on whether values of secrets may be read now: narrows"],
        &["policy does not decide on whether values of secrets may be read any more: widens"],
    );
    both(
        changing(|it| it.escape_hatch = None),
        &["policy decides on the request that `verb` and `target` make now: narrows"],
        &["policy does not decide on the request that `verb` and `target` make any more: widens"],
    );
    both(
        changing(|it| it.escape_hatch = hatch("verb", "url")),
        &[
            "policy decides on the request that `verb` and `target` make instead of the request that `verb` and `url` make: widens",
        ],
        &[
            "policy decides on the request that `verb` and `url` make instead of the request that `verb` and `target` make: widens",
        ],
    );
    both(
        changing(|it| it.interaction = None),
        &["policy decides on the kind of interaction in `kind` now: narrows"],
        &["policy does not decide on the kind of interaction in `kind` any more: widens"],
    );
    both(
        changing(|it| it.interaction = Some("way".to_owned())),
        &[
            "policy decides on the kind of interaction in `kind` instead of the kind of interaction in `way`: widens",
        ],
        &[
            "policy decides on the kind of interaction in `way` instead of the kind of interaction in `kind`: widens",
        ],
    );
}

#[test]
fn a_changed_class_widens_unless_no_actor_calls_it_any_more() {
    let nothing = surface();
    let of = |class| requiring(&Requirements::of(class));
    let [always, owned, optional] = [Class::Always, Class::ControlPlane, Class::Optional].map(of);
    for (one, other, wanted) in [
        (&nothing, &always, "class none -> always: widens"),
        (&always, &nothing, "class always -> none: widens"),
        (&always, &optional, "class always -> optional: widens"),
        (&optional, &always, "class optional -> always: widens"),
        (&owned, &optional, "class control_plane -> optional: widens"),
        (&owned, &nothing, "class control_plane -> none: widens"),
        (
            &optional,
            &owned,
            "class optional -> control_plane: narrows",
        ),
        (&nothing, &owned, "class none -> control_plane: narrows"),
    ] {
        told(one, other, "requirements", &[wanted]);
    }
    // What it required of actors before lets nobody do more by being gone.
    let changes = compare(&requiring(&everything()), &owned);
    assert_eq!(changes.len(), 8, "{changes:#?}");
    assert_eq!(changes[0].label, Label::Narrows);
    assert!(changes[1..].iter().all(|it| it.label == Label::Keeps));
}

#[test]
fn a_path_more_is_redacted_and_one_less_is_not() {
    let redacting = |paths: &[&str]| {
        let paths = set(paths);
        changed(|action: &mut LockedAction| action.redactions = paths)
    };
    let [one, other] = [
        redacting(&["$.key", "$.token"]),
        redacting(&["$.key", "$.a"]),
    ];
    told(
        &one,
        &other,
        "redactions",
        &[
            "`$.a` is redacted now: narrows",
            "`$.token` is not redacted any more: widens",
        ],
    );
    told(&one, &one, "redactions", &[]);
}

fn words(of: &'static [&'static str]) -> impl Strategy<Value = BTreeSet<String>> {
    proptest::sample::subsequence(of, 0..=of.len()).prop_map(|words| set(&words))
}

fn any_requirements() -> impl Strategy<Value = Requirements> {
    use Class::{Always, ControlPlane, Optional};
    let class = prop_oneof![
        Just(None),
        Just(Some(Always)),
        Just(Some(Optional)),
        Just(Some(ControlPlane))
    ];
    let hatches = prop_oneof![Just(None), Just(hatch("m", "p")), Just(hatch("m", "q"))];
    let kinds = prop_oneof![Just(None), Just(Some("k")), Just(Some("l"))];
    let lists = (words(&["a", "b"]), words(&["a", "b"]), words(&["a", "b"]));
    let policies = (any::<bool>(), hatches, kinds);
    (class, lists, policies).prop_map(
        |(class, (claims, roles, modes), (reads_secrets, escape_hatch, kind))| Requirements {
            class,
            claims,
            roles,
            modes,
            reads_secrets,
            escape_hatch,
            interaction: kind.map(str::to_owned),
        },
    )
}

fn any_mandate() -> impl Strategy<Value = Mandate> {
    let target = serde_json::from_value(json!({"method": "GET", "path": "/cases"})).unwrap();
    let targets = prop_oneof![Just(BTreeSet::new()), Just([target].into())];
    let lists = (words(&["a", "b"]), words(&["a", "b"]), words(&["b"]));
    let policies = (any::<bool>(), targets, words(&["confirm"]));
    (
        lists,
        prop_oneof![Just("a"), Just("b"), Just("c")],
        policies,
    )
        .prop_map(
            |(
                (claims, roles, denied_claims),
                mode,
                (secret_values, api_targets, interaction_kinds),
            )| {
                Mandate {
                    claims,
                    roles,
                    denied_claims,
                    mode: mode.to_owned(),
                    secret_values,
                    api_targets,
                    interaction_kinds,
                    ..Mandate::default()
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn what_does_not_widen_lets_no_actor_do_more(
        old in any_requirements(), new in any_requirements(), mandate in any_mandate(),
    ) {
        let found = requirements::changes(&old, &new);
        prop_assert_eq!(found.is_empty(), old == new);
        let widens = found.iter().any(|(label, _)| *label == Label::Widens);
        let action = id("b.two");
        let passes = |it: &Requirements| {
            it.class != Some(Class::ControlPlane) && unmet(Some(&mandate), &action, it).is_none()
        };
        prop_assert!(widens || !passes(&new) || passes(&old), "{found:?}");
        let offers = |it: &Requirements| mandate.offers(&action, it);
        prop_assert!(widens || !offers(&new) || offers(&old), "{found:?}");
    }
}
