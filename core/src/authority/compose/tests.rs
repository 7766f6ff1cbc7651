use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::authority::document::decode_json;
use crate::authority::sample;

mod claims;

/// Everything that composition looks at, owned, so that a test can change one thing.
#[derive(Debug, Clone)]
struct Setup {
    event: Event,
    identity: Identity,
    route: Route,
    agent: AgentManifest,
    workflow: WorkflowManifest,
    pack: CapabilityPack,
    global_policy: Policy,
    session: SessionPolicy,
    /// The scenario, and the actor that the sender is; `None` where the route names no scenario.
    claims: Option<(Scenario, Option<Actor>)>,
    /// What claims offer, whoever holds them.
    offered: BTreeSet<ActionId>,
    now: Timestamp,
}

impl Setup {
    fn new() -> Self {
        Self {
            event: sample::event(),
            identity: sample::identity(),
            route: sample::manifest(sample::ROUTE),
            agent: sample::manifest(sample::AGENT),
            workflow: sample::manifest(sample::WORKFLOW),
            pack: sample::manifest(sample::PACK),
            global_policy: sample::manifest(sample::POLICY),
            session: SessionPolicy::default(),
            claims: None,
            offered: BTreeSet::new(),
            now: sample::now(),
        }
    }

    fn compose(&self) -> Result<Composition, ComposeError> {
        self.compose_knowing(&|_| true)
    }

    fn compose_knowing(&self, known: &dyn Fn(&str) -> bool) -> Result<Composition, ComposeError> {
        let offered = |_: &Mandate| self.offered.clone();
        let claims = self.claims.as_ref();
        compose(&ComposeInput {
            event: &self.event,
            identity: &self.identity,
            route: &self.route,
            agent: &self.agent,
            workflow: &self.workflow,
            pack: &self.pack,
            global_policy: &self.global_policy,
            session: &self.session,
            claims: claims.map(|(scenario, actor)| ClaimsInput {
                scenario,
                actor: actor.as_ref(),
                offered: &offered,
            }),
            known,
            now: self.now,
        })
    }

    /// Every action list, by manifest and then allow, approval, deny.
    fn lists(&mut self) -> [&mut Vec<Listed>; 15] {
        [
            &mut self.agent.designed_tools,
            &mut self.agent.approval_required_tools,
            &mut self.agent.denied_tools,
            &mut self.workflow.candidate_allowed_actions,
            &mut self.workflow.approval_required,
            &mut self.workflow.denied_actions,
            &mut self.pack.candidate_allowed_actions,
            &mut self.pack.approval_required,
            &mut self.pack.denied_actions,
            &mut self.global_policy.candidate_allowed_actions,
            &mut self.global_policy.approval_required,
            &mut self.global_policy.denied_actions,
            &mut self.session.candidate_allowed_actions,
            &mut self.session.approval_required,
            &mut self.session.denied_actions,
        ]
    }
}

/// The names of the lists, as an unknown action is reported.
const LISTS: [&str; 15] = [
    "agent.designed_tools",
    "agent.approval_required_tools",
    "agent.denied_tools",
    "workflow.candidate_allowed_actions",
    "workflow.approval_required",
    "workflow.denied_actions",
    "pack.candidate_allowed_actions",
    "pack.approval_required",
    "pack.denied_actions",
    "global_policy.candidate_allowed_actions",
    "global_policy.approval_required",
    "global_policy.denied_actions",
    "session.candidate_allowed_actions",
    "session.approval_required",
    "session.denied_actions",
];

fn listed(id: &str) -> Listed {
    Listed {
        id: id.to_owned(),
        position: None,
    }
}

fn ids(actions: &BTreeSet<ActionId>) -> Vec<&str> {
    actions.iter().map(ActionId::as_str).collect()
}

#[test]
fn a_plain_setup_grants_what_it_lists() {
    let granted = Setup::new().compose().unwrap();
    assert_eq!(ids(&granted.allowed_actions), ["mail.read"]);
    assert!(granted.approval_required_actions.is_empty() && granted.denied_actions.is_empty());
    assert_eq!(
        granted.output_channels,
        BTreeSet::from(["owner".to_owned()])
    );
    assert_eq!(granted.expires_at.to_string(), "2026-01-01T00:02:00Z");
    assert_eq!(
        granted.authority_sources,
        [
            "global_policy:v1",
            "route:owner:v1",
            "agent:helper:v1",
            "workflow:talk:v1",
            "capability_pack:basic:v1"
        ]
    );
    assert_eq!(
        granted.limits,
        Limits {
            max_model_calls: 3,
            max_artifacts: 2,
            max_runtime_seconds: 120
        }
    );
}

#[test]
fn nothing_listed_nothing_allowed() {
    let mut setup = Setup::new();
    setup.agent.designed_tools.clear();
    assert!(setup.compose().unwrap().allowed_actions.is_empty());
    setup.global_policy.denied_actions = vec![listed("mail.send")];
    let granted = setup.compose().unwrap();
    assert!(granted.allowed_actions.is_empty());
    assert_eq!(ids(&granted.denied_actions), ["mail.send"]);
}

#[test]
fn an_unknown_action_is_named_with_its_list_whatever_the_list() {
    for (index, name) in LISTS.iter().enumerate() {
        for ghost in ["ghost.action", "", "MAIL.READ", "mail.read "] {
            let mut setup = Setup::new();
            setup.lists()[index].push(listed(ghost));
            let known = |id: &str| id == "mail.read";
            assert_eq!(
                setup.compose_knowing(&known),
                Err(ComposeError::UnknownAction {
                    id: ghost.to_owned(),
                    list: (*name).to_owned()
                })
            );
        }
    }
}

#[test]
fn an_id_that_is_none_is_unknown_even_to_a_catalog_that_knows_everything() {
    let mut setup = Setup::new();
    setup.pack.denied_actions = vec![listed("Mail.Send")];
    assert!(matches!(
        setup.compose(),
        Err(ComposeError::UnknownAction { .. })
    ));
}

#[test]
fn the_first_unknown_action_in_reading_order_is_named() {
    let mut setup = Setup::new();
    for (index, list) in setup.lists().into_iter().enumerate().skip(1) {
        list.push(listed(&format!("ghost.n{index}")));
    }
    let refused = setup.compose_knowing(&|id| id == "mail.read").unwrap_err();
    assert!(matches!(refused, ComposeError::UnknownAction { id, .. } if id == "ghost.n1"));
}

#[test]
fn every_manifest_must_be_active_and_the_first_that_is_not_is_named() {
    let manifests = [
        "route",
        "agent",
        "workflow",
        "capability_pack",
        "global_policy",
    ];
    for (first, manifest) in manifests.into_iter().enumerate() {
        let mut setup = Setup::new();
        let states = [
            &mut setup.route.lifecycle_state,
            &mut setup.agent.lifecycle_state,
            &mut setup.workflow.lifecycle_state,
            &mut setup.pack.lifecycle_state,
            &mut setup.global_policy.lifecycle_state,
        ];
        for state in states.into_iter().skip(first) {
            *state = Lifecycle::ReviewRequired;
        }
        assert_eq!(
            setup.compose().unwrap_err().to_string(),
            format!("{manifest} is not active (lifecycle_state=ReviewRequired)")
        );
    }
}

#[test]
fn a_deny_route_composes_nothing() {
    let mut setup = Setup::new();
    setup.route.effect = RouteEffect::Deny;
    assert_eq!(
        setup.compose(),
        Err(ComposeError::DenyRoute {
            route: "owner".to_owned()
        })
    );
}

#[test]
fn a_route_that_wants_a_verified_source_needs_it_of_event_and_identity() {
    for (event, identity) in [(false, true), (true, false), (false, false)] {
        let mut setup = Setup::new();
        setup.event.verified_source = event;
        setup.identity.source_verified = identity;
        assert!(setup.compose().is_ok(), "the route does not ask");
        setup.route.when.verified_source = Some(false);
        assert!(setup.compose().is_ok(), "the route asks for the opposite");
        setup.route.when.verified_source = Some(true);
        assert_eq!(setup.compose(), Err(ComposeError::Unverified));
    }
}

#[test]
fn data_more_private_than_the_pack_takes_is_refused_and_unknown_is_the_most_private() {
    use DataClassification::{Internal, Private, Public, Unknown};
    let ranks = [Public, Internal, Private, Unknown];
    for (rank, event) in ranks.into_iter().enumerate() {
        for (most, max) in ranks.into_iter().enumerate() {
            let mut setup = Setup::new();
            setup.event.data_classification = event;
            setup.pack.constraints.data_classification_max = Some(max);
            assert_eq!(setup.compose().is_ok(), rank <= most, "{event} {max}");
        }
    }
    // The policy's own bound is for the record only.
    let mut setup = Setup::new();
    setup.event.data_classification = Unknown;
    setup.global_policy.constraints.data_classification_max = Some(Public);
    assert!(setup.compose().is_ok());
}

#[test]
fn an_unknown_action_is_told_before_the_data_s_privacy() {
    let mut setup = Setup::new();
    setup.event.data_classification = DataClassification::Unknown;
    setup.pack.constraints.data_classification_max = Some(DataClassification::Public);
    assert!(matches!(
        setup.compose(),
        Err(ComposeError::TooPrivate { .. })
    ));
    assert!(matches!(
        setup.compose_knowing(&|_| false),
        Err(ComposeError::UnknownAction { .. })
    ));
}

#[test]
fn the_shorter_runtime_of_agent_and_pack_counts() {
    for (pack, seconds) in [(None, 120), (Some(60), 60), (Some(600), 120), (Some(0), 0)] {
        let mut setup = Setup::new();
        setup.pack.constraints.max_runtime_seconds = pack;
        setup.session.constraints.max_runtime_seconds = Some(1);
        let granted = setup.compose().unwrap();
        assert_eq!(granted.limits.max_runtime_seconds, seconds);
        assert_eq!(
            granted.expires_at.duration_since(setup.now).as_secs(),
            seconds as i64
        );
    }
}

#[test]
fn an_expiry_that_no_timestamp_holds_is_refused() {
    for seconds in [
        u64::MAX,
        i64::MAX as u64,
        i64::MAX as u64 + 1,
        400_000_000_000,
    ] {
        let mut setup = Setup::new();
        setup.agent.limits.max_runtime_seconds = seconds;
        assert_eq!(
            setup.compose(),
            Err(ComposeError::ExpiryOverflow { seconds })
        );
    }
    let mut setup = Setup::new();
    setup.now = Timestamp::MAX;
    assert_eq!(
        setup.compose(),
        Err(ComposeError::ExpiryOverflow { seconds: 120 })
    );
}

#[test]
fn a_policy_s_allow_list_narrows_and_never_adds() {
    let mut setup = Setup::new();
    setup.agent.designed_tools = vec![listed("a"), listed("b"), listed("c")];
    setup.global_policy.candidate_allowed_actions = vec![listed("a"), listed("b"), listed("x")];
    assert_eq!(ids(&setup.compose().unwrap().allowed_actions), ["a", "b"]);
    setup.session.candidate_allowed_actions = vec![listed("b"), listed("c")];
    assert_eq!(ids(&setup.compose().unwrap().allowed_actions), ["b"]);
}

fn some_setup() -> impl Strategy<Value = Setup> {
    let list = prop::collection::vec("[a-f]", 0..4);
    prop::collection::vec(list, 15).prop_map(|lists| {
        let mut setup = Setup::new();
        for (target, list) in setup.lists().into_iter().zip(lists) {
            *target = list.iter().map(|id| listed(id)).collect();
        }
        setup
    })
}

/// Whether one of the lists of `kind` (0 allow, 1 approval, 2 deny) of the first `manifests` names it.
fn named(setup: &mut Setup, kind: usize, manifests: usize, id: &str) -> bool {
    let lists = setup.lists();
    (0..manifests).any(|manifest| {
        lists[manifest * 3 + kind]
            .iter()
            .any(|listed| listed.id == id)
    })
}

proptest! {
    #[test]
    fn deny_beats_approval_beats_allow(mut setup in some_setup()) {
        let granted = setup.compose().unwrap();
        for letter in 'a'..='f' {
            let id = letter.to_string();
            let denied = named(&mut setup, 2, 5, &id);
            let approval = named(&mut setup, 1, 5, &id);
            prop_assert_eq!(granted.denied_actions.contains(id.as_str()), denied);
            prop_assert_eq!(
                granted.approval_required_actions.contains(id.as_str()),
                approval && !denied
            );
            if denied || approval {
                prop_assert!(!granted.allowed_actions.contains(id.as_str()));
            }
        }
    }

    #[test]
    fn nothing_is_allowed_that_agent_workflow_or_pack_did_not_list(mut setup in some_setup()) {
        let granted = setup.compose().unwrap();
        for id in ids(&granted.allowed_actions) {
            prop_assert!(named(&mut setup, 0, 3, id), "{}", id);
        }
        for id in ids(&granted.approval_required_actions) {
            prop_assert!(named(&mut setup, 1, 5, id), "{}", id);
        }
    }

    #[test]
    fn order_and_repetition_do_not_matter(setup in some_setup()) {
        let mut other = setup.clone();
        for list in other.lists() {
            let again = list.clone();
            list.reverse();
            list.extend(again);
        }
        prop_assert_eq!(setup.compose(), other.compose());
    }

    #[test]
    fn one_more_denial_never_allows_more(setup in some_setup(), index in 0usize..5, id in "[a-f]") {
        let before = setup.compose().unwrap();
        let mut stricter = setup.clone();
        stricter.lists()[index * 3 + 2].push(listed(&id));
        let after = stricter.compose().unwrap();
        prop_assert!(after.allowed_actions.is_subset(&before.allowed_actions));
        prop_assert!(after.approval_required_actions.is_subset(&before.approval_required_actions));
        prop_assert!(after.denied_actions.contains(id.as_str()));
    }
}

#[test]
fn limits_refuse_unknown_fields() {
    let limits =
        json!({"max_model_calls": 1, "max_artifacts": 1, "max_runtime_seconds": 1, "x": 1});
    assert!(serde_json::from_value::<Limits>(limits).is_err());
}

#[test]
fn manifests_from_json_compose_like_those_from_yaml() {
    let session: SessionPolicy =
        decode_json(&json!({"schema_version": 1, "denied_actions": ["mail.read"]})).unwrap();
    let setup = Setup {
        session,
        ..Setup::new()
    };
    let granted = setup.compose().unwrap();
    assert!(granted.allowed_actions.is_empty());
    assert_eq!(ids(&granted.denied_actions), ["mail.read"]);
}
