//! What is written down of decisions.

use std::collections::BTreeSet;

use actum::authorization::{
    Authorization, Exposures, MAX_EXPOSURES, Outcome, Phase, StateChange, exposure_of,
};
use actum::gate::{Verdict, exposure, gate};
use actum::{ActionCatalog, Class, TaskGrant};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::call::calls;
use crate::config;
use crate::support::manifests::Manifests;
use crate::support::{at, id, nothing_until, verified};
use crate::world::{IDS, World, catalog, caveats, grant, manifests, standings, world};

/// The claims that are held, by the manifests: those of actor and scenario that nobody denies.
fn held(manifests: &Manifests) -> BTreeSet<&str> {
    let actor = manifests.actor.iter().flat_map(|actor| &actor.claims);
    let denied = [
        &manifests.scenario.denied_claims,
        &manifests.policy.denied_claims,
    ];
    let is_denied = |claim: &str| {
        denied
            .iter()
            .any(|list| list.iter().any(|one| one.value == claim))
    };
    let all = actor.chain(&manifests.scenario.claims);
    all.map(|claim| claim.value.as_str())
        .filter(|claim| !is_denied(claim))
        .collect()
}

/// Considered is what is required, granted what is held of it, and missing the rest.
fn claims_are_sorted(
    record: &Authorization,
    world: &World,
    held: &BTreeSet<&str>,
) -> Result<(), TestCaseError> {
    fn set(claims: &[String]) -> BTreeSet<&str> {
        claims.iter().map(String::as_str).collect()
    }
    let required = world.get(record.operation_id.as_str());
    let required: BTreeSet<&str> = required
        .iter()
        .flat_map(|facts| facts.requirements.claims.iter().map(String::as_str))
        .collect();
    let (granted, missing) = (set(&record.granted), set(&record.missing));
    prop_assert_eq!(set(&record.considered), &granted | &missing);
    prop_assert_eq!(&required, &(&granted | &missing));
    prop_assert!(granted.is_disjoint(&missing));
    prop_assert_eq!(granted, &required & held);
    let counts = [&record.considered, &record.granted, &record.missing].map(Vec::len);
    prop_assert_eq!(counts[0], counts[1] + counts[2], "no claim twice");
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_call_s_record_says_what_its_verdict_says(
        world in world(),
        mut manifests in manifests(),
        is_actor in prop::bool::weighted(0.8),
    ) {
        if !is_actor {
            manifests.actor = None;
        }
        let catalog = catalog(&world);
        let held = if is_actor { held(&manifests) } else { BTreeSet::new() };
        let grant = verified(grant(&manifests, &catalog), []);
        for call in IDS.iter().flat_map(|text| calls(text)).chain(calls("nothing.such")) {
            let text = &call.request.action;
            let verdict = gate(&grant, &call.request, &catalog, call.evidence(), at(1000));
            let record = Authorization::of_call(&grant, &catalog, text, &verdict);
            let by = match world.get(text.as_str()).and_then(|facts| facts.requirements.class) {
                Some(Class::Always) => "task_scoped_always_tool",
                Some(Class::Optional) => "required_claims_granted",
                _ => "listed",
            };
            let (outcome, reason) = match &verdict {
                Verdict::Allow(_) => (Outcome::Allowed, by),
                Verdict::ApprovalRequired(_) => (Outcome::ApprovalRequired, by),
                Verdict::EffectSuppressed => (Outcome::EffectSuppressed, "effect_suppressed"),
                Verdict::Deny(reason) => (Outcome::Denied, reason.as_str()),
            };
            prop_assert_eq!((record.outcome, record.reason.as_str()), (outcome, reason));
            prop_assert_eq!(&record.operation_id, text);
            prop_assert_eq!(record.phase, Phase::Invocation);
            prop_assert_eq!(record.state_change, StateChange::None);
            claims_are_sorted(&record, &world, &held)?;
            // Nothing passes with a claim missing.
            prop_assert!(record.missing.is_empty() || outcome == Outcome::Denied, "{:?}", record);
            if reason == "required_claim_missing" || reason == "required_claim_denied_by_policy" {
                prop_assert!(!record.missing.is_empty(), "{:?}", record);
            }
        }
    }

    /// One record for each action: first of what the view shows, then of the rest with the reason of
    /// each.
    #[test]
    fn exposures_agree_with_the_view(
        world in world(),
        manifests in manifests(),
        step in caveats(),
    ) {
        let catalog = catalog(&world);
        let held = held(&manifests);
        let grant = verified(grant(&manifests, &catalog), [step]);
        let Exposures { records, left_out } = Exposures::of(&grant, &catalog);
        prop_assert_eq!(left_out, 0);
        let shown = standings(&grant, &catalog);
        let ids = |outcome: Outcome| -> Vec<_> {
            let of = records.iter().filter(|record| record.outcome == outcome);
            of.map(|record| id(&record.operation_id)).collect()
        };
        prop_assert_eq!(ids(Outcome::Exposed), shown.keys().cloned().collect::<Vec<_>>());
        let rest = catalog.ids().into_iter().filter(|id| !shown.contains_key(*id));
        prop_assert_eq!(ids(Outcome::Absent), rest.cloned().collect::<Vec<_>>());
        prop_assert_eq!(records.len(), catalog.len());
        prop_assert!(records.is_sorted_by_key(|record| record.outcome != Outcome::Exposed));
        for record in &records {
            prop_assert_eq!(record, &exposure_of(&grant, &catalog, &id(&record.operation_id)));
            prop_assert_eq!(record.phase, Phase::Exposure);
            claims_are_sorted(record, &world, &held)?;
            if let Err(absence) = exposure(&grant, &catalog, &record.operation_id) {
                prop_assert_eq!(record.reason.as_str(), absence.as_str());
            }
        }
    }
}

#[test]
fn what_is_exposed_is_recorded_however_many_actions_there_are() {
    let world: World = crate::world::IDS
        .iter()
        .map(|text| (id(text), crate::examples::plain()))
        .collect();
    let others = (0..MAX_EXPOSURES).map(|number| id(&format!("a.n{number}")));
    let catalog: ActionCatalog = catalog(&world).and_known(others);
    let root = TaskGrant {
        allowed_actions: [id("web.send")].into(),
        allowed_egress_classes: ["granted".to_owned()].into(),
        ..nothing_until(at(3600))
    };
    let Exposures { records, left_out } = Exposures::of(&verified(root, []), &catalog);
    assert_eq!((records.len(), left_out), (MAX_EXPOSURES, IDS.len()));
    let [first, second, ..] = records.as_slice() else {
        panic!("there are records");
    };
    assert_eq!(
        (first.operation_id.as_str(), first.outcome),
        ("web.send", Outcome::Exposed)
    );
    assert_eq!(
        (second.operation_id.as_str(), second.outcome),
        ("a.n0", Outcome::Absent)
    );
    let started = first.clone().leading_to(StateChange::CallStarted);
    assert_eq!(started.state_change, StateChange::CallStarted);
    assert_eq!(started.reason, "listed");
}
