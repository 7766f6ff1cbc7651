//! Laws of handing on: whatever is asked for, a commissioned task has no more than the task that commissioned it.

#![allow(clippy::unwrap_used, clippy::panic)] // a test says where it fails

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use actum::gate::{Evidence, Origin, Request, SelectionToken, exposure};
use actum::grant::{Caveat, Commission, SealKey, SealedGrant};
use actum::{
    ActionCatalog, ActionId, BoundArgument, Digest, EgressDeclaration, TaskGrant, ToolDescriptor,
    ToolName, VerifiedGrant,
};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};
use ulid::Ulid;

use support::{Outcome, at, decide, id, nothing_until};

const KEY: SealKey = SealKey::new([7; 32]);
const TOKEN_TYPE: &str = "thread";
const TOKENS: [Ulid; 2] = [Ulid(11), Ulid(12)];

/// Each action with what is special about it.
const PLAIN: &str = "mail.list";
const POST: &str = "mail.send";
const SEARCH: &str = "web.search";
const READ: &str = "mail.read:one";
const COMMISSION: &str = "worker.commission";
const ACTIONS: [&str; 5] = [PLAIN, POST, SEARCH, READ, COMMISSION];

fn catalog(non_delegable: &BTreeSet<ActionId>) -> ActionCatalog {
    let tool = |action: &str| {
        let tool = serde_json::from_value::<ToolDescriptor>(json!({
            "name": ToolName::of(&id(action)).as_str(), "description": "Does.",
            "parameters_schema": {
                "type": "object", "properties": {"to": {"type": "string"}}, "additionalProperties": false,
            },
            "approval_required": false, "selection_token_required": action == READ,
        }));
        (id(action), tool.unwrap())
    };
    let egress = |action: &str| {
        let declared = EgressDeclaration {
            egress_class: (action == SEARCH).then(|| "search".to_owned()),
            output_channels: (action == POST).then(|| ["post".to_owned()].into()),
        };
        (id(action), declared)
    };
    ActionCatalog::new(ACTIONS.map(id))
        .with_tool_descriptors(ACTIONS.map(tool).into())
        .with_egress_declarations(ACTIONS.map(egress).into())
        .with_selection_token_types([(id(READ), TOKEN_TYPE.to_owned())].into())
        .with_non_delegable(non_delegable.clone())
}

fn some(fewest: usize) -> impl Strategy<Value = BTreeSet<ActionId>> {
    subsequence(ACTIONS.to_vec(), fewest..=ACTIONS.len())
        .prop_map(|ids| ids.into_iter().map(id).collect())
}

fn texts(of: &'static [&'static str]) -> impl Strategy<Value = BTreeSet<String>> {
    subsequence(of.to_vec(), 0..=of.len())
        .prop_map(|texts| texts.into_iter().map(str::to_owned).collect())
}

fn tokens() -> impl Strategy<Value = BTreeSet<Ulid>> {
    subsequence(TOKENS.to_vec(), 0..=TOKENS.len()).prop_map(|ids| ids.into_iter().collect())
}

fn bounds() -> impl Strategy<Value = Vec<BoundArgument>> {
    let one = (select(&ACTIONS[..]), subsequence(vec!["ada", "kim"], 0..=2));
    let one = one.prop_map(|(action, values)| {
        BoundArgument::one_of(
            id(action),
            "to",
            values.into_iter().map(Value::from).collect(),
        )
    });
    prop::collection::vec(one, 0..3)
}

fn grant() -> impl Strategy<Value = TaskGrant> {
    let reach = (texts(&["post"]), texts(&["search"]));
    (
        some(2),
        some(0),
        some(0),
        reach,
        tokens(),
        bounds(),
        0u32..9,
    )
        .prop_map(
            |(allowed, approval, denied, (channels, classes), tokens, bound_arguments, calls)| {
                let mut grant = TaskGrant {
                    allowed_actions: allowed,
                    approval_required_actions: approval,
                    denied_actions: denied.into_iter().take(1).collect(),
                    output_channels: channels,
                    allowed_egress_classes: classes,
                    selection_tokens: tokens
                        .into_iter()
                        .map(|id| (id, TOKEN_TYPE.to_owned()))
                        .collect(),
                    bound_arguments,
                    ..nothing_until(at(3_600))
                };
                grant.limits.max_model_calls = calls;
                grant
            },
        )
}

fn commission() -> impl Strategy<Value = Commission> {
    let reach = (
        prop::option::of(texts(&["post", "other"])),
        prop::option::of(texts(&["search", "other"])),
    );
    let time = (0i64..10_000, prop::option::of(0u32..20));
    (some(0), reach, tokens(), bounds(), time).prop_map(
        |(
            actions,
            (output_channels, egress_classes),
            selection_tokens,
            bound_arguments,
            (end, max_calls),
        )| {
            Commission {
                task_id: Ulid(77),
                purpose: "A part of it.".to_owned(),
                at: at(10),
                catalog_digest: Digest::of_bytes(b"later"),
                actions,
                expires_at: at(end),
                output_channels,
                egress_classes,
                selection_tokens,
                bound_arguments,
                max_calls,
            }
        },
    )
}

/// Every call of an action: without its argument or with each of some, and with each token or none.
fn calls(action: &str) -> Vec<(Arc<Request>, Option<SelectionToken>)> {
    let mut all = Vec::new();
    for to in [None, Some("ada"), Some("kim"), Some("eve")] {
        for token in [None, Some(TOKENS[0]), Some(TOKENS[1])] {
            let arguments: Map<String, Value> = to
                .map(|to| ("to".to_owned(), json!(to)))
                .into_iter()
                .collect();
            let request = Request {
                action: action.to_owned(),
                arguments,
                payload_digest: None,
                target_digest: None,
                selection_token: token,
                origin: Origin::Worker,
            };
            let stored = token.map(|id| SelectionToken {
                id,
                token_type: TOKEN_TYPE.to_owned(),
                expires_at: at(5_000),
            });
            all.push((Arc::new(request), stored));
        }
    }
    all
}

fn outcome(
    grant: &VerifiedGrant,
    catalog: &ActionCatalog,
    (request, stored): &(Arc<Request>, Option<SelectionToken>),
) -> Outcome {
    let evidence = Evidence {
        approval: None,
        selection_token: stored.as_ref(),
    };
    decide(grant, request, catalog, evidence, at(1_000))
}

fn is_denied(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Deny(_))
}

/// The root, its child, and a child of that, which is below the same laws.
fn generations(
    grant: TaskGrant,
    steps: [Commission; 2],
    catalog: &ActionCatalog,
) -> [VerifiedGrant; 3] {
    let root = SealedGrant::seal(grant, &KEY).unwrap();
    let [first, second] = steps;
    let child = root.clone().commission(first, catalog).unwrap();
    let below = child.clone().commission(second, catalog).unwrap();
    [root, child, below].map(|sealed| sealed.verify(&KEY).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// In actions, arguments, channels, egress, time, selection tokens and calls.
    #[test]
    fn a_child_is_never_wider(
        grant in grant(),
        steps in [commission(), commission()],
        non_delegable in some(0),
    ) {
        let catalog = catalog(&non_delegable);
        let all = generations(grant, steps, &catalog);
        for pair in all.windows(2) {
            let [parent, child] = pair else { panic!("windows of two") };
            prop_assert!(child.expires_at() <= parent.expires_at());
            prop_assert!(child.limits().max_model_calls <= parent.limits().max_model_calls);
            prop_assert!(child.output_channels().is_subset(parent.output_channels()));
            prop_assert!(child.egress_classes().is_subset(parent.egress_classes()));
            let held: BTreeMap<_, _> = parent.selection_tokens().clone();
            prop_assert!(child.selection_tokens().iter().all(|(id, held_as)| held.get(id) == Some(held_as)));
            prop_assert_eq!(&child.root().principal, &parent.root().principal);
            for action in ACTIONS {
                for call in calls(action) {
                    let outcome_of_child = outcome(child, &catalog, &call);
                    if !is_denied(outcome_of_child) {
                        prop_assert_eq!(outcome(parent, &catalog, &call), outcome_of_child, "{:?}", call);
                    }
                }
            }
        }
    }

    /// What no grant may hand on is in no child, whatever is asked for; and in one that was handed on while it
    /// could be, it is not any more.
    #[test]
    fn what_is_not_to_be_handed_on_is_not(
        grant in grant(),
        steps in [commission(), commission()],
        non_delegable in some(1),
        before in any::<bool>(),
    ) {
        let now = catalog(&non_delegable);
        let of_then = if before { catalog(&BTreeSet::new()) } else { now.clone() };
        let [_, child, below] = generations(grant, steps, &of_then);
        for action in &non_delegable {
            for grant in [&child, &below] {
                prop_assert!(exposure(grant, &now, action.as_str()).is_err());
                for call in calls(action.as_str()) {
                    prop_assert!(is_denied(outcome(grant, &now, &call)));
                }
            }
        }
    }
}

#[test]
fn what_is_asked_for_and_may_be_handed_on_is() {
    let mut grant = nothing_until(at(3_600));
    grant.allowed_actions = ACTIONS.map(id).into();
    grant.output_channels = ["post".to_owned()].into();
    grant.selection_tokens = [(TOKENS[0], TOKEN_TYPE.to_owned())].into();
    let commission = Commission {
        task_id: Ulid(77),
        purpose: "Sum it up.".to_owned(),
        at: at(10),
        catalog_digest: Digest::of_bytes(b"later"),
        actions: [id(POST), id(READ), id(COMMISSION)].into(),
        expires_at: at(2_000),
        output_channels: None,
        egress_classes: None,
        selection_tokens: [TOKENS[0]].into(),
        bound_arguments: vec![BoundArgument::one_of(id(POST), "to", vec!["ada".into()])],
        max_calls: Some(1),
    };
    let catalog = catalog(&[id(COMMISSION)].into());
    let root = SealedGrant::seal(grant, &KEY).unwrap();
    let sealed = root.clone().commission(commission, &catalog).unwrap();
    assert_eq!(sealed.purpose_as_issued(), "Sum it up.");
    assert_eq!(root.purpose_as_issued(), "Test.");
    let child = sealed.verify(&KEY).unwrap();
    let root = root.verify(&KEY).unwrap();
    let shown = ACTIONS.map(|action| exposure(&child, &catalog, action).is_ok());
    assert_eq!(shown, [false, true, false, true, false]);
    let sends: Vec<_> = calls(POST)
        .iter()
        .map(|call| outcome(&child, &catalog, call))
        .collect();
    assert_eq!(
        sends.iter().filter(|one| !is_denied(**one)).count(),
        3,
        "to ada alone"
    );
    assert!(
        calls(READ)
            .iter()
            .any(|call| outcome(&child, &catalog, call) == Outcome::Allow)
    );
    assert_eq!((child.task_id(), root.task_id()), (Ulid(77), Ulid(2)));
    assert_eq!((child.purpose(), root.purpose()), ("Sum it up.", "Test."));
    assert_eq!((child.expires_at(), child.issued_at()), (at(2_000), at(10)));
    assert_eq!(child.catalog_digest(), Digest::of_bytes(b"later"));
    assert!(child.is_handed_on() && !root.is_handed_on());
}

#[test]
fn a_limit_can_be_lowered_and_not_raised() {
    let mut grant = nothing_until(at(3_600));
    grant.limits.max_model_calls = 5;
    let limits = |limits: &[u32]| {
        let caveats = limits
            .iter()
            .map(|&max_calls| Caveat::CallLimit { max_calls });
        support::verified(grant.clone(), [caveats.collect()])
            .limits()
            .max_model_calls
    };
    assert_eq!(
        [limits(&[]), limits(&[3]), limits(&[9]), limits(&[9, 2, 4])],
        [5, 3, 5, 2]
    );
}
