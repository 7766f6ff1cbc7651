//! What is listed is what can be called, and depends on nothing but the grant.

use std::collections::BTreeMap;

use actum::gate::Standing;
use actum::schema::CompiledSchema;
use actum::{ToolName, project};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use crate::call::calls;
use crate::config;
use crate::support::{Outcome, id, verified};
use crate::world::{
    IDS, KIND, KINDS, catalog, caveats, facts, grant, manifests, seen, standings, world,
};

/// The action that a worker means by an id or a tool's name.
fn meant(spelling: &str) -> String {
    ToolName::to_id(spelling).map_or_else(|| spelling.to_owned(), |id| id.to_string())
}

/// The worlds drawn are no deserts: the laws meet enough of everything.
#[test]
fn the_worlds_drawn_have_something_to_show() {
    let mut runner = TestRunner::deterministic();
    let (mut by_list, mut by_claims, mut absent) = (0, 0, 0);
    let mut outcomes = BTreeMap::<String, usize>::new();
    for _ in 0..200 {
        let drawn = (world(), manifests()).new_tree(&mut runner).unwrap();
        let (world, manifests) = drawn.current();
        let catalog = catalog(&world);
        let root = grant(&manifests, &catalog);
        let offered = catalog.offered_to(root.mandate.as_ref().unwrap());
        let grant = verified(root, []);
        let shown = standings(&grant, &catalog);
        by_claims += shown.keys().filter(|id| offered.contains(*id)).count();
        by_list += shown.keys().filter(|id| !offered.contains(*id)).count();
        absent += IDS.len() - shown.len();
        for one in IDS.iter().flat_map(|text| calls(text)) {
            let outcome = one.outcome(&grant, &catalog);
            *outcomes.entry(format!("{outcome:?}")).or_default() += 1;
        }
    }
    println!(
        "shown: {by_list} by lists alone, {by_claims} by claims too; {absent} absent; {outcomes:#?}"
    );
    assert!(by_list > 50 && by_claims > 50 && absent > 200);
    let reasons = [
        "Allow",
        "Ask",
        "Deny(ControlPlaneOwned)",
        "Deny(ExplicitDeny)",
        "Deny(EgressClassNotGranted)",
        "Deny(PolicyDenied)",
        "Deny(TaskMode)",
        "Deny(Role)",
        "Deny(ClaimDenied)",
        "Deny(ClaimMissing)",
        "Deny(SecretValues)",
        "Deny(EscapeHatch)",
        "Deny(EscapeHatchTarget)",
        "Deny(InteractionKind)",
        "Deny(SelectionTokenInvalid)",
        "Deny(NotGranted)",
    ];
    for reason in reasons {
        assert!(
            outcomes.get(reason).is_some_and(|count| *count > 100),
            "{reason}: {outcomes:#?}"
        );
    }
}

proptest! {
    #![proptest_config(config())]

    /// Under its id and under its tool's name: some call of what is shown passes, with arguments that
    /// its schema takes; and of what is not shown none does, whatever comes with it.
    #[test]
    fn the_list_is_what_can_be_called_under_each_spelling(
        world in world(),
        manifests in manifests(),
        step in caveats(),
    ) {
        let catalog = catalog(&world);
        let grant = verified(grant(&manifests, &catalog), [step]);
        let view = project(&grant, &catalog);
        for text in IDS {
            let shown = view.tools().find(|tool| tool.id().as_str() == text);
            for spelling in [text.to_owned(), ToolName::of(&id(text)).to_string()] {
                prop_assert_eq!(meant(&spelling), text);
                let calls = calls(&meant(&spelling));
                if let Some(tool) = shown {
                    let schema = CompiledSchema::new(&tool.descriptor().parameters_schema).unwrap();
                    let works = calls.iter().any(|call| {
                        let arguments = Value::Object(call.request.arguments.clone());
                        call.passes(&grant, &catalog) && schema.check(&arguments).is_ok()
                    });
                    prop_assert!(works, "{} is shown, and every call is denied", text);
                } else if catalog.is_dispatchable(text) {
                    for call in calls {
                        let outcome = call.outcome(&grant, &catalog);
                        prop_assert!(
                            matches!(outcome, Outcome::Deny(_)),
                            "not shown, and {:?} for {:?}", outcome, call
                        );
                    }
                }
            }
        }
    }

    /// A view tells of the very kinds of interaction that can be asked for.
    #[test]
    fn the_kinds_shown_are_those_that_pass(world in world(), manifests in manifests()) {
        let catalog = catalog(&world);
        let grant = verified(grant(&manifests, &catalog), []);
        for tool in project(&grant, &catalog).tools() {
            let schema = CompiledSchema::new(&tool.descriptor().parameters_schema).unwrap();
            let calls = calls(tool.id().as_str());
            for kind in [None, Some(KINDS[0]), Some(KINDS[1])] {
                let has_kind = |of: &Value| of.get(KIND).and_then(Value::as_str) == kind;
                let of_kind = calls.iter().filter(|call| {
                    let arguments = Value::Object(call.request.arguments.clone());
                    has_kind(&arguments)
                });
                let shown = of_kind.clone().any(|call| {
                    let arguments = Value::Object(call.request.arguments.clone());
                    schema.check(&arguments).is_ok()
                });
                let passes = of_kind.clone().any(|call| call.passes(&grant, &catalog));
                prop_assert_eq!(shown, passes, "{:?} {:?}", tool.id(), kind);
            }
        }
    }

    /// A tool is marked where the gate asks, and nowhere else.
    #[test]
    fn a_mark_is_where_the_gate_asks(world in world(), manifests in manifests()) {
        let catalog = catalog(&world);
        let grant = verified(grant(&manifests, &catalog), []);
        for (id, standing) in standings(&grant, &catalog) {
            let asks = calls(id.as_str())
                .iter()
                .any(|call| call.outcome(&grant, &catalog) == Outcome::Ask);
            prop_assert_eq!(asks, standing == Standing::ApprovalRequired, "{:?}", id);
        }
    }

    /// Whatever is added to, removed from or changed in a catalog beside the granted actions changes no
    /// byte of the view, and no verdict on a granted action.
    #[test]
    fn the_view_and_the_verdicts_depend_on_the_grant_alone(
        mine in world(),
        others in world(),
        kept in prop::sample::subsequence(IDS.to_vec(), 0..=IDS.len()),
        extra in prop::collection::btree_map("[a-z]{1,6}(\\.[a-z]{1,6}){0,2}", facts(), 0..6),
        manifests in manifests(),
    ) {
        let before = catalog(&mine);
        let root = grant(&manifests, &before);
        let mut changed = others;
        changed.retain(|id, _| kept.contains(&id.as_str()));
        changed.extend(extra.iter().map(|(text, facts)| (id(text), facts.clone())));
        let is_granted = |id: &_| {
            root.allowed_actions.contains(id) || root.approval_required_actions.contains(id)
        };
        changed.retain(|id, _| !is_granted(id));
        let granted = mine.iter().filter(|(id, _)| is_granted(id));
        changed.extend(granted.map(|(id, facts)| (id.clone(), facts.clone())));
        let after = catalog(&changed);

        let grant = verified(root.clone(), []);
        prop_assert_eq!(seen(&grant, &before), seen(&grant, &after));
        for granted in root.allowed_actions.iter().chain(&root.approval_required_actions) {
            for call in calls(granted.as_str()) {
                let outcomes = [&before, &after].map(|catalog| call.outcome(&grant, catalog));
                prop_assert_eq!(outcomes[0], outcomes[1], "{:?}", call);
            }
        }
        // And of what is not granted, nothing passes in either.
        for text in IDS.into_iter().filter(|text| !is_granted(&id(text))) {
            for call in calls(text) {
                prop_assert!(!call.passes(&grant, &before) && !call.passes(&grant, &after), "{:?}", call);
            }
        }
    }
}
