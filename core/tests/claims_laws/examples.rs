//! Cases that no random call hits: arguments of another form, and calls of the kernel itself.

use std::sync::Arc;

use actum::gate::{DenialReason, Evidence, Origin, Request};
use actum::grant::Caveat;
use actum::requirement::EscapeHatch;
use actum::{Class, Requirements};
use serde_json::{Value, json};

use crate::call::{call, calls};
use crate::support::manifests::{Manifests, listed, located, manifest};
use crate::support::{Outcome, at, decide, id, verified};
use crate::world::{Facts, KIND, World, catalog, grant, standings};

/// An action that requires nothing.
pub fn plain() -> Facts {
    Facts {
        requirements: Requirements::default(),
        dispatchable: true,
        always_asks: false,
        wants_token: false,
        leaves_by: "granted",
        description: "Does.".to_owned(),
    }
}

fn only(requirements: Requirements) -> World {
    let facts = Facts {
        requirements,
        ..plain()
    };
    [(id("x"), facts)].into()
}

fn open() -> Manifests {
    let mut all = Manifests::new();
    let target = manifest(&json!({"method": "GET", "path": "/v1/tasks"}));
    all.scenario.api_targets = vec![located(target)];
    all.scenario.interaction_kinds = vec![located("confirm".to_owned())];
    all
}

fn outcome(requirements: Requirements, arguments: &Value) -> Outcome {
    let catalog = catalog(&only(requirements));
    let grant = verified(grant(&open(), &catalog), []);
    call("x", arguments, false, false).outcome(&grant, &catalog)
}

#[test]
fn an_escape_hatch_sends_nothing_that_it_cannot_read() {
    let hatch = Requirements {
        escape_hatch: Some(EscapeHatch {
            method: "method".to_owned(),
            path: "path".to_owned(),
        }),
        ..Requirements::of(Class::Always)
    };
    let right = json!({"method": "get", "path": "/v1/tasks"});
    assert_eq!(outcome(hatch.clone(), &right), Outcome::Allow);
    let wrong = [
        json!({}),
        json!({"method": "GET"}),
        json!({"path": "/v1/tasks"}),
        json!({"method": null, "path": "/v1/tasks"}),
        json!({"method": ["GET"], "path": "/v1/tasks"}),
        json!({"method": "GET", "path": ["/v1/tasks"]}),
        json!({"method": "GET", "path": {"path": "/v1/tasks"}}),
        json!({"method": "GET", "path": "/v1/tasks/../web"}),
        json!({"method": "/v1/tasks", "path": "GET"}),
    ];
    for arguments in wrong {
        assert_eq!(
            outcome(hatch.clone(), &arguments),
            Outcome::Deny(DenialReason::EscapeHatchTarget),
            "{arguments}"
        );
    }
}

#[test]
fn an_interaction_of_no_kind_is_refused() {
    let asks = Requirements {
        interaction: Some(KIND.to_owned()),
        ..Requirements::of(Class::Always)
    };
    assert_eq!(
        outcome(asks.clone(), &json!({KIND: "confirm"})),
        Outcome::Allow
    );
    for kind in [
        json!("Confirm"),
        json!("confirm "),
        json!(["confirm"]),
        json!(null),
        json!(1),
    ] {
        assert_eq!(
            outcome(asks.clone(), &json!({KIND: kind})),
            Outcome::Deny(DenialReason::InteractionKind),
            "{kind}"
        );
    }
    let beside = json!({"kind": "confirm"});
    assert_eq!(
        outcome(asks, &beside),
        Outcome::Deny(DenialReason::InteractionKind)
    );
}

/// Mandates hold workers. What the kernel does itself, it may do by its own declaration alone.
#[test]
fn the_kernel_is_held_to_no_mandate() {
    for class in [Class::ControlPlane, Class::Optional] {
        let required = Requirements {
            claims: ["held:by:nobody".to_owned()].into(),
            ..Requirements::of(class)
        };
        let catalog = catalog(&only(required)).with_kernel_origin([id("x")].into());
        let mut manifests = open();
        manifests.scenario.denied_actions = vec![listed("x")];
        let grant = verified(grant(&manifests, &catalog), []);
        let asked_by = |origin| {
            let request = Arc::new(Request {
                origin,
                ..Request::clone(&call("x", &json!({}), false, false).request)
            });
            decide(&grant, &request, &catalog, Evidence::default(), at(1000))
        };
        assert_eq!(asked_by(Origin::Kernel), Outcome::Allow);
        let refused = match class {
            Class::ControlPlane => DenialReason::ControlPlaneOwned,
            _ => DenialReason::PolicyDenied,
        };
        assert_eq!(asked_by(Origin::Worker), Outcome::Deny(refused));
    }
}

/// An operation of the control plane is nobody's: no list, no claim and no role reaches it.
#[test]
fn no_way_leads_to_an_operation_of_the_control_plane() {
    let catalog = catalog(&only(Requirements::of(Class::ControlPlane)));
    let mut manifests = open();
    manifests.agent.designed_tools = vec![listed("x")];
    manifests.session.approval_required = vec![listed("x")];
    let grant = verified(grant(&manifests, &catalog), []);
    assert!(standings(&grant, &catalog).is_empty());
    let asked = call("x", &json!({}), true, true).outcome(&grant, &catalog);
    assert_eq!(asked, Outcome::Deny(DenialReason::ControlPlaneOwned));
}

/// What an escape hatch may send, and what its grant binds it to, have to meet somewhere.
#[test]
fn an_escape_hatch_that_is_bound_off_every_target_is_absent() {
    let hatch = Requirements {
        escape_hatch: Some(EscapeHatch {
            method: "method".to_owned(),
            path: "path".to_owned(),
        }),
        ..Requirements::of(Class::Always)
    };
    let catalog = catalog(&only(hatch));
    let bound = |name: &str, value: &str| Caveat::BoundParameter {
        name: name.to_owned(),
        value: value.to_owned(),
    };
    let root = grant(&open(), &catalog);
    for (caveat, is_shown) in [
        (bound("method", "GET"), true),
        (bound("path", "/v1/tasks"), true),
        (bound("method", "POST"), false),
        (bound("path", "/v1/web"), false),
    ] {
        let grant = verified(root.clone(), [vec![caveat.clone()]]);
        assert_eq!(
            !standings(&grant, &catalog).is_empty(),
            is_shown,
            "{caveat:?}"
        );
        let passes = calls("x").iter().any(|call| call.passes(&grant, &catalog));
        assert_eq!(passes, is_shown, "{caveat:?}");
    }
}

/// What nobody may call in a scenario, one who is no actor may not call there either.
#[test]
fn a_scenario_denies_to_everybody() {
    let catalog = catalog(&only(Requirements::default()));
    let mut manifests = open();
    manifests.agent.designed_tools = vec![listed("x")];
    manifests.scenario.denied_actions = vec![listed("x")];
    for is_actor in [true, false] {
        manifests.actor.take_if(|_| !is_actor);
        let grant = verified(grant(&manifests, &catalog), []);
        assert!(
            standings(&grant, &catalog).is_empty(),
            "is an actor: {is_actor}"
        );
        assert!(!call("x", &json!({}), false, false).passes(&grant, &catalog));
    }
}
