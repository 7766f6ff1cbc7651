//! What claims add to a composition.

use super::*;

const SCENARIO: &str = "
id: desk
schema_version: 1
lifecycle_state: active
mode: standard
";

const ACTOR: &str = "
id: ada
schema_version: 1
version: 3
lifecycle_state: active
principal_id: owner
";

impl Setup {
    /// With an actor in a scenario, to whom one more action is offered.
    fn offering(id: &str) -> Self {
        Self {
            claims: Some((sample::manifest(SCENARIO), Some(sample::manifest(ACTOR)))),
            offered: [ActionId::parse(id).unwrap()].into(),
            ..Self::new()
        }
    }
}

#[test]
fn what_claims_offer_is_allowed_and_its_sources_are_named_last() {
    let granted = Setup::offering("mail.send").compose().unwrap();
    assert_eq!(ids(&granted.allowed_actions), ["mail.read", "mail.send"]);
    let sources = granted.authority_sources.get(5..).unwrap();
    assert_eq!(sources, ["scenario:desk:v1", "actor:ada:v3"]);
    let mandate = granted.mandate.unwrap();
    assert_eq!(
        (mandate.actor.as_str(), mandate.scenario.as_str()),
        ("ada", "desk")
    );
}

/// What claims offer is merged before the lists are settled: the three that come out have nothing in
/// common.
#[test]
fn an_offer_is_narrowed_asked_for_and_denied_like_a_list_s() {
    let only = |list: fn(&mut Setup) -> &mut Vec<Listed>, id: &str| {
        let mut setup = Setup::offering("mail.send");
        *list(&mut setup) = vec![listed(id)];
        setup.compose().unwrap()
    };
    let narrowed = only(
        |setup| &mut setup.session.candidate_allowed_actions,
        "mail.read",
    );
    assert_eq!(ids(&narrowed.allowed_actions), ["mail.read"]);
    let asked = only(|setup| &mut setup.workflow.approval_required, "mail.send");
    assert_eq!(ids(&asked.allowed_actions), ["mail.read"]);
    assert_eq!(ids(&asked.approval_required_actions), ["mail.send"]);
    let denied = only(|setup| &mut setup.agent.denied_tools, "mail.send");
    assert_eq!(ids(&denied.allowed_actions), ["mail.read"]);
    assert_eq!(ids(&denied.denied_actions), ["mail.send"]);
}

#[test]
fn who_is_no_active_actor_brings_nothing_and_keeps_what_lists_give() {
    let by_lists = Setup::new().compose().unwrap();
    let mut setup = Setup::offering("mail.send");
    let inactive = [
        Lifecycle::Proposed,
        Lifecycle::Validated,
        Lifecycle::ReviewRequired,
        Lifecycle::Approved,
        Lifecycle::Quarantined,
        Lifecycle::Retired,
    ];
    for state in inactive {
        let (_, actor) = setup.claims.as_mut().unwrap();
        actor.as_mut().unwrap().lifecycle_state = state;
        assert_eq!(setup.compose().unwrap(), by_lists, "{state:?}");
    }
    let (_, actor) = setup.claims.as_mut().unwrap();
    *actor = None;
    assert_eq!(setup.compose().unwrap(), by_lists);
}

#[test]
fn a_scenario_must_be_active_whoever_sends() {
    for is_actor in [true, false] {
        let mut setup = Setup::offering("mail.send");
        let (scenario, actor) = setup.claims.as_mut().unwrap();
        scenario.lifecycle_state = Lifecycle::Quarantined;
        actor.take_if(|_| !is_actor);
        assert_eq!(
            setup.compose().unwrap_err().to_string(),
            "scenario is not active (lifecycle_state=Quarantined)"
        );
    }
}
