//! What an action requires of its actor, and what lists and claims make of it together.
//!
//! Crossed in full: the list that the action stands in, its class, no claim or any one or two of five,
//! role, mode, denial by policy, secret values, the escape hatch and whether a call is on target, and
//! interactions and whether a call is of the kind. Each of these combinations is met by each fact of
//! [`BESIDE`] in turn: egress, channel, token, approval, expiry. Those are not crossed with one another,
//! since the other universe does that, and since the table, as the gate, knows only the first row that
//! applies: two rows in the wrong order show where just these two apply.
//!
//! Each combination goes the whole way from manifests by [`compose`](actum::authority::compose) to the
//! gate.

mod built;
mod case;

use std::collections::BTreeMap;
use std::path::Path;

use actum::gate::exposure;
use actum::{ActionCatalog, Class, VerifiedGrant, project};
use serde_json::Value;

use crate::case::FLAGS;
use crate::support::Outcome::Deny;
use crate::support::manifests::{Manifests, issued};
use crate::support::verified;
use built::{Call, all_calls, catalog, manifests, with_token};
use case::{BESIDE, Beside, CLAIMS, Case, Claim, LISTS, List, Required, Scene, WANTED, With};

const CLASSES: [Option<Class>; 4] = [
    None,
    Some(Class::Always),
    Some(Class::Optional),
    Some(Class::ControlPlane),
];

/// No claim, each one, and each two.
fn claim_sets() -> Vec<Vec<Claim>> {
    let pairs = CLAIMS.iter().enumerate().flat_map(|(index, one)| {
        let others = CLAIMS.iter().skip(index + 1);
        others.map(|other| vec![*one, *other])
    });
    let singles = CLAIMS.iter().map(|claim| vec![*claim]);
    std::iter::once(Vec::new())
        .chain(singles)
        .chain(pairs)
        .collect()
}

fn all_required() -> Vec<Required> {
    let mut all = Vec::new();
    for class in CLASSES {
        for claims in claim_sets() {
            for (role, mode) in pairs(&WANTED, &WANTED) {
                for (reads_secrets, escape_hatch) in pairs(&FLAGS, &FLAGS) {
                    for interaction in FLAGS {
                        all.push(Required {
                            class,
                            claims: claims.clone(),
                            role,
                            mode,
                            reads_secrets,
                            escape_hatch,
                            interaction,
                        });
                    }
                }
            }
        }
    }
    all
}

fn pairs<A: Copy, B: Copy>(one: &[A], other: &[B]) -> Vec<(A, B)> {
    let with = |a: A| other.iter().map(move |b| (a, *b));
    one.iter().flat_map(|a| with(*a)).collect()
}

/// The scenario of one who is no actor. Nothing that it switches on counts.
const OF_NO_ACTOR: Scene = Scene {
    is_actor: false,
    denies_action: false,
    secret_values: true,
    api_target: true,
    interaction_kind: true,
};

/// Every scenario of an actor that matters to the action: what it does not need is off.
fn scenes(required: &Required) -> Vec<Scene> {
    let ways = |needed: bool| if needed { &FLAGS[..] } else { &FLAGS[..1] };
    let mut all = Vec::new();
    for (denies_action, secret_values) in pairs(&FLAGS, ways(required.reads_secrets)) {
        for (api_target, interaction_kind) in
            pairs(ways(required.escape_hatch), ways(required.interaction))
        {
            all.push(Scene {
                is_actor: true,
                denies_action,
                secret_values,
                api_target,
                interaction_kind,
            });
        }
    }
    all
}

/// Grants by what they were composed of, and by whether that allows the action, which is all that a
/// catalog changes of them. Sealing each anew would take most of the time.
#[derive(Default)]
struct Grants(BTreeMap<(List, Scene), (Manifests, BTreeMap<bool, VerifiedGrant>)>);

impl Grants {
    fn composed(&mut self, list: List, scene: Scene, catalog: &ActionCatalog) -> &VerifiedGrant {
        let (manifests, sealed) = self
            .0
            .entry((list, scene))
            .or_insert_with(|| (manifests(list, scene), BTreeMap::new()));
        let composition = manifests.compose(catalog).unwrap();
        let is_allowed = !composition.allowed_actions.is_empty();
        let grant = || verified(with_token(issued(composition)), []);
        sealed.entry(is_allowed).or_insert_with(grant)
    }
}

/// Compares every combination with the table, and what is exposed with what can be called. Returns how
/// many combinations there were.
fn compare_all(scenes: impl Fn(&Required) -> Vec<Scene>) -> usize {
    let bare = BESIDE.map(|(beside, with)| (beside, catalog(beside), all_calls(with)));
    let mut grants = Grants::default();
    let mut count = 0;
    for required in &all_required() {
        let all = bare
            .each_ref()
            .map(|(beside, catalog, calls)| (beside, required.of(catalog), calls));
        // What lies beside is nothing to composition.
        let [(_, composed_of, _), ..] = &all;
        for (scene, list) in pairs(&scenes(required), &LISTS) {
            let grant = grants.composed(list, scene, composed_of);
            for (beside, catalog, calls) in &all {
                let case = |call: &Call| Case {
                    list,
                    required,
                    scene,
                    beside: **beside,
                    call: call.words,
                };
                let mut callable = None;
                for call in calls.iter().filter(|call| call.words.matters(scene)) {
                    let case = case(call);
                    let (given, expected) = (call.outcome(grant, catalog), case.expected());
                    assert!(
                        given == expected,
                        "{case:#?} gave {given:?}, not {expected:?}"
                    );
                    count += 1;
                    if !matches!(expected, Deny(_)) {
                        callable = Some(case);
                    }
                }
                let is_exposed = exposure(grant, catalog, "x").is_ok();
                let is_shown = !project(grant, catalog).is_empty();
                assert!(
                    is_exposed == callable.is_some() && is_shown == is_exposed,
                    "exposed: {is_exposed}, shown: {is_shown}, callable as {callable:#?}: \
                     {list:?} {required:?} {scene:?} {beside:?}"
                );
            }
        }
    }
    count
}

#[test]
fn every_combination_of_claims_and_lists_is_decided_as_the_table_says() {
    let count = compare_all(scenes);
    println!("{count} combinations");
    assert_eq!(count, 2_211_840);
}

#[test]
fn one_who_is_no_actor_has_lists_alone_in_every_combination() {
    let count = compare_all(|_| vec![OF_NO_ACTOR]);
    println!("{count} combinations");
    assert_eq!(count, 737_280);
}

/// The table is no better than its order, which is not this project's own.
#[test]
fn the_table_is_in_the_published_order() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/taskboard/catalog.json");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; this test needs it", path.display()));
    let facts: Value = serde_json::from_str(&text).unwrap();
    let published = facts.get("denial_order").and_then(Value::as_array).unwrap();
    let published = published.iter().filter_map(Value::as_str);

    let required = all_required();
    let case = Case {
        list: List::Nowhere,
        required: required.first().unwrap(),
        scene: OF_NO_ACTOR,
        beside: Beside::Nothing,
        call: all_calls(&[With::Nothing]).first().unwrap().words,
    };
    let mut rows: Vec<&str> = case
        .table()
        .into_iter()
        .filter_map(|(_, outcome)| match outcome {
            Deny(reason) => Some(reason.as_str()),
            _ => None,
        })
        .collect();
    rows.dedup();
    // Of the published order, what comes after these is of running a call, and not of leave to.
    let common: Vec<&str> = published.filter(|reason| rows.contains(reason)).collect();
    rows.retain(|reason| common.contains(reason));
    assert_eq!(rows, common);
    assert_eq!(common.len(), 10);
}
