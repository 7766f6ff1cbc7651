//! What an annotation asks of an actor, from the source to the gate: it arrives in the catalog exactly,
//! what is the control plane's own is out of every agent's reach, and what cannot be judged stops the
//! start.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use actum::__private as hidden;
use actum::action::Declaration;
use actum::catalog::CatalogFault;
use actum::gate::{Absence, DenialReason, Evidence, Origin, Request, Verdict, exposure, gate};
use actum::grant::{SealKey, SealedGrant, TaskGrant, VerifiedGrant};
use actum::{
    Action, ActionCatalog, ActionError, ActionId, Class, Registry, Requirements, action, project,
};
use hidden::DeclarationKind::{self, ControlPlane, KernelOrigin, Known};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

// ---- the handlers ----

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Ask {
    /// Such as `GET`.
    verb: String,
    target: String,
    kind: Kind,
    note: Option<String>,
    size: u8,
}

/// In which way to ask a person.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// Say yes or no.
    Confirm,
    Choose,
}

#[action(
    id = "case.send",
    description = "Send a request about a case.",
    class = optional,
    requires("Cases:Write", "cases:send"),
    roles("Approver", "lead"),
    modes("test", "Drill"),
    reads_secrets,
    escape_hatch(method = "verb", path = "target"),
    interaction = "kind",
)]
async fn send(_: Ask) -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "case.list", description = "List the cases.", class = always)]
fn list() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "case.read", description = "Read a case.")]
fn read() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "run.persist", description = "Keep a run.", class = control_plane)]
fn persist() -> Result<(), ActionError> {
    Ok(())
}

actum::control_plane!("run.replay");
actum::known!("case.burn");

/// With a handler and without one.
const OWNED: [&str; 2] = ["run.persist", "run.replay"];

// ---- what is needed to ask of them ----

fn linked() -> Registry {
    Registry::linked().unwrap()
}

fn id(text: &str) -> ActionId {
    ActionId::parse(text).unwrap()
}

fn requirements_of(catalog: &ActionCatalog, id: &str) -> Value {
    serde_json::to_value(catalog.requirements_for(id)).unwrap()
}

fn action_of(id: &str) -> Action {
    let registry = linked();
    let found = registry.actions().find(|(found, _)| found.as_str() == id);
    *found.unwrap().1
}

fn place(line: u32) -> hidden::Place {
    hidden::Place {
        file: "case.rs",
        line,
        column: 1,
        module: "case",
    }
}

/// The faults of a start with these in place of what is linked.
fn start(
    actions: impl IntoIterator<Item = Action>,
    declarations: &[(&'static str, u32, DeclarationKind)],
) -> Result<Registry, Vec<String>> {
    let actions: Vec<&'static Action> = actions
        .into_iter()
        .map(|action| &*Box::leak(Box::new(action)))
        .collect();
    let declarations: Vec<&'static Declaration> = declarations
        .iter()
        .map(|&(id, line, kind)| {
            let at = place(line);
            &*Box::leak(Box::new(Declaration { id, kind, at }))
        })
        .collect();
    Registry::new(actions, declarations).map_err(|faults| {
        let lines = faults.all().iter();
        lines
            .map(|fault| format!("{} {}: {}", fault.at, fault.id, fault.problem))
            .collect()
    })
}

/// A grant that lists every id there is, with a mandate that holds what `send` asks.
fn grant_of_everything(catalog: &ActionCatalog) -> VerifiedGrant {
    let nothing = format!("sha256:{}", "0".repeat(64));
    let grant: TaskGrant = serde_json::from_value(json!({
        "id": "00000000000000000000000001",
        "task_id": "00000000000000000000000002",
        "event_id": "00000000000000000000000003",
        "principal": {"kind": "known", "id": "ada"},
        "purpose": "Test.",
        "allowed_actions": catalog.ids(),
        "approval_required_actions": [],
        "denied_actions": [],
        "allowed_egress_classes": [],
        "output_channels": [],
        "selection_tokens": {},
        "mandate": {
            "actor": "ada", "scenario": "drill", "mode": "test",
            "roles": ["approver"], "claims": ["Cases:Write", "cases:send"],
            "denied_claims": [], "denied_actions": [],
            "secret_values": true, "interaction_kinds": ["confirm"],
            "api_targets": [{"method": "GET", "path": "/cases"}],
        },
        "limits": {"max_model_calls": 1, "max_artifacts": 1, "max_runtime_seconds": 60},
        "mode": "live",
        "reply_to": null,
        "issued_at": "2024-01-01T00:00:00Z",
        "expires_at": "2024-01-01T00:01:00Z",
        "authority_sources": [],
        "policy_revision": nothing,
        "catalog_digest": nothing,
    }))
    .unwrap();
    let key = SealKey::new([7; 32]);
    SealedGrant::seal(grant, &key)
        .unwrap()
        .verify(&key)
        .unwrap()
}

fn decided(catalog: &ActionCatalog, id: &str, origin: Origin) -> Verdict {
    let grant = grant_of_everything(catalog);
    let request = Arc::new(Request {
        action: id.to_owned(),
        arguments: serde_json::Map::new(),
        payload_digest: None,
        target_digest: None,
        selection_token: None,
        origin,
    });
    let now = grant.root().issued_at;
    gate(&grant, &request, catalog, Evidence::default(), now)
}

#[track_caller]
fn assert_denied(verdict: &Verdict, reason: DenialReason) {
    match verdict {
        Verdict::Deny(found) => assert_eq!(*found, reason),
        other => panic!("not denied: {other:?}"),
    }
}

// ---- from the annotation to the catalog ----

#[test]
fn what_an_annotation_asks_is_in_the_catalog_exactly() {
    let catalog = linked().catalog();
    assert_eq!(
        requirements_of(&catalog, "case.send"),
        json!({
            "class": "optional",
            "claims": ["Cases:Write", "cases:send"],
            "roles": ["approver", "lead"],
            "modes": ["Drill", "test"],
            "reads_secrets": true,
            "escape_hatch": {"method": "verb", "path": "target"},
            "interaction": "kind",
        })
    );
    assert_eq!(
        requirements_of(&catalog, "case.list"),
        json!({"class": "always"})
    );
    for id in ["case.read", "case.burn", "case.unheard_of"] {
        assert_eq!(catalog.requirements_for(id), None, "{id}");
        assert_eq!(catalog.class_of(id), None, "{id}");
    }
    assert_eq!(catalog.faults(), []);
}

#[test]
fn roles_are_trimmed_and_folded_and_claims_are_not() {
    let asks = hidden::Asks {
        class: Some(Class::Optional),
        claims: &[" Cases:Write ", "ÉCRIRE"],
        roles: &["  Approver\t", "ÉDITEUR", "éditeur"],
        ..hidden::Asks::NOTHING
    };
    let action = Action {
        asks,
        ..action_of("case.read")
    };
    let catalog = start([action], &[]).unwrap().catalog();
    let told = requirements_of(&catalog, "case.read");
    assert_eq!(told["claims"], json!([" Cases:Write ", "ÉCRIRE"]));
    assert_eq!(told["roles"], json!(["approver", "éditeur"]));
}

#[test]
fn what_is_asked_is_under_the_digest_of_the_catalog() {
    let catalog = linked().catalog();
    let told: BTreeMap<ActionId, Requirements> = catalog
        .ids()
        .into_iter()
        .filter_map(|id| {
            let required = catalog.requirements_for(id.as_str())?;
            Some((id.clone(), required.clone()))
        })
        .collect();
    let digest = |catalog: &ActionCatalog| catalog.digest().unwrap();
    let same = catalog.clone().with_requirements(told.clone());
    assert_eq!(digest(&same), digest(&catalog));
    let mut fewer = told;
    fewer.get_mut("case.send").unwrap().claims.clear();
    let fewer = catalog.clone().with_requirements(fewer);
    assert_ne!(digest(&fewer), digest(&catalog));
}

// ---- the control plane's own ----

#[test]
fn the_control_planes_own_is_known_and_told_to_nobody() {
    let catalog = linked().catalog();
    for id in OWNED {
        assert!(catalog.is_known(id), "{id}");
        assert_eq!(catalog.class_of(id), Some(Class::ControlPlane), "{id}");
        assert_eq!(catalog.tool_descriptor_for(id), None, "{id}");
    }
    assert!(catalog.is_dispatchable("run.persist"));
    assert!(!catalog.is_dispatchable("run.replay"));

    let grant = grant_of_everything(&catalog);
    let view = project(&grant, &catalog);
    let seen: Vec<_> = view.tools().map(|tool| tool.id().as_str()).collect();
    assert_eq!(seen, ["case.list", "case.read", "case.send"]);
    let mut bytes = String::new();
    view.write_tools(&mut bytes);
    assert!(!bytes.contains("run-"), "{bytes}");
    let owned = Absence::Denied(DenialReason::ControlPlaneOwned);
    for id in OWNED {
        assert_eq!(exposure(&grant, &catalog, id), Err(owned), "{id}");
    }
    let offered = catalog.offered_to(grant.mandate().unwrap());
    assert_eq!(offered, ["case.list", "case.send"].map(id).into());
}

#[test]
fn no_worker_calls_what_is_the_control_planes_own_whatever_its_grant_lists() {
    let catalog = linked().catalog();
    for id in OWNED {
        let verdict = decided(&catalog, id, Origin::Worker);
        assert_denied(&verdict, DenialReason::ControlPlaneOwned);
    }
    assert_eq!(
        DenialReason::ControlPlaneOwned.as_str(),
        "control_plane_owned_operation"
    );
    // It is the class that refuses, not the grant.
    let unowned = catalog.with_requirements(BTreeMap::new());
    let verdict = decided(&unowned, "run.persist", Origin::Worker);
    assert!(matches!(verdict, Verdict::Allow(_)), "{verdict:?}");
}

#[test]
fn the_kernel_originates_it_where_there_is_a_handler_and_nowhere_else() {
    let registry = linked();
    let catalog = registry.catalog();
    match decided(&catalog, "run.persist", Origin::Kernel) {
        Verdict::Allow(permit) => assert!(registry.admit(permit).is_ok()),
        refused => panic!("{refused:?}"),
    }
    for id in ["run.replay", "case.burn", "case.list"] {
        let verdict = decided(&catalog, id, Origin::Kernel);
        assert_denied(&verdict, DenialReason::KernelOriginNotTrusted);
    }
}

#[test]
fn a_declaration_beside_a_handler_or_another_declaration_is_a_fault() {
    let again = start(
        [action_of("run.persist")],
        &[("run.persist", 7, ControlPlane)],
    );
    let told = again.unwrap_err();
    assert!(
        told.len() == 1 && told[0].contains("declared again"),
        "{told:?}"
    );

    let replay = |first, second| start([], &[("run.replay", 1, first), ("run.replay", 2, second)]);
    for (first, second) in [(ControlPlane, Known), (Known, ControlPlane)] {
        let told = replay(first, second).unwrap_err();
        assert!(told[0].contains("declared again"), "{told:?}");
    }
    for (first, second, line) in [
        (ControlPlane, KernelOrigin, 2),
        (KernelOrigin, ControlPlane, 1),
    ] {
        let told = replay(first, second).unwrap_err();
        assert_eq!(told.len(), 1, "{told:?}");
        let start = format!("case.rs:{line} run.replay: `control_plane!` says");
        assert!(told[0].starts_with(&start), "{told:?}");
    }
}

#[test]
fn what_is_known_and_of_the_kernels_origin_is_both_in_either_order() {
    let catalog_of = |declarations: &[_]| start([], declarations).unwrap().catalog();
    let [known, origin] = [("x.one", 1, Known), ("x.one", 2, KernelOrigin)];
    let catalog = catalog_of(&[known, origin]);
    assert!(catalog.is_known("x.one") && !catalog.is_dispatchable("x.one"));
    assert!(catalog.is_kernel_origin("x.one"));
    let turned = catalog_of(&[origin, known]);
    assert_eq!(turned.digest().unwrap(), catalog.digest().unwrap());
}

// ---- what stops the start ----

#[test]
fn an_optional_action_without_a_claim_is_a_fault_by_name_however_it_came_to_be() {
    let bare = hidden::Asks {
        class: Some(Class::Optional),
        ..hidden::Asks::NOTHING
    };
    let action = Action {
        asks: bare,
        at: place(9),
        ..action_of("case.read")
    };
    let told = start([action], &[]).unwrap_err();
    let problem = "is optional and requires no claim, so nothing says who may have it; add `requires(\"...\")`, or make it `class = always`";
    assert_eq!(told, [format!("case.rs:9 case.read: {problem}")]);

    let optional = Requirements::of(Class::Optional);
    let by_hand = linked()
        .catalog()
        .with_requirements([(id("case.read"), optional)].into());
    let faults = by_hand.faults();
    let fault = CatalogFault::Requirement {
        id: id("case.read"),
        problem: problem.to_owned(),
    };
    assert!(faults.contains(&fault), "{faults:?}");
    assert_eq!(fault.to_string(), format!("`case.read` {problem}"));
}

#[test]
fn an_argument_that_a_policy_judges_is_a_text_that_every_call_has() {
    let send = action_of("case.send");
    let with = |method, path, interaction| {
        let asks = hidden::Asks {
            escape_hatch: Some((method, path)),
            interaction: Some(interaction),
            ..send.asks
        };
        let at = place(3);
        start([Action { asks, at, ..send }], &[])
    };
    assert!(with("verb", "target", "kind").is_ok());
    // A list of texts is text as well, behind a reference or not.
    assert!(with("kind", "verb", "target").is_ok());
    let told = |name: &str, problem: &str| {
        format!("case.rs:3 case.send: is judged by its argument `{name}`, which {problem}")
    };
    assert_eq!(
        with("verbs", "note", "size").unwrap_err(),
        [
            told("note", "a call may leave out; require it"),
            told("size", "is no text; make it one"),
            told("verbs", "it does not take; name one of its own"),
        ]
    );
    // Each of them alone, so that no one of the three is looked at in another's place.
    for (found, name) in [
        (with("size", "target", "kind"), "size"),
        (with("verb", "size", "kind"), "size"),
        (with("verb", "target", "size"), "size"),
    ] {
        assert_eq!(found.unwrap_err(), [told(name, "is no text; make it one")]);
    }
}

#[test]
fn every_problem_of_one_action_is_told_at_once() {
    let send = action_of("case.send");
    let asks = hidden::Asks {
        class: Some(Class::Always),
        modes: &[],
        interaction: Some("kinds"),
        ..send.asks
    };
    let told = start([Action { asks, ..send }], &[]).unwrap_err();
    assert_eq!(told.len(), 3, "{told:#?}");
    for words in ["is offered always", "is for tests", "`kinds`"] {
        let found = told.iter().filter(|line| line.contains(words)).count();
        assert_eq!(found, 1, "{words}: {told:#?}");
    }
}
