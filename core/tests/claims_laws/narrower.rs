//! Taking something away never gives anything.

use actum::authority::Mandate;
use actum::grant::Caveat;
use actum::{ActionCatalog, TaskGrant, VerifiedGrant};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestCaseError;

use crate::call::calls;
use crate::config;
use crate::support::manifests::{Manifests, listed, located};
use crate::support::{id, verified};
use crate::world::{CLAIMS, IDS, KIND, KINDS, World, catalog, grant, manifests, standings, world};

/// One thing less for the actor, or one thing more that is denied.
#[derive(Debug, Clone)]
enum Less {
    ActorClaim(Index),
    ScenarioClaim(Index),
    Role(Index),
    ApiTarget(Index),
    InteractionKind(Index),
    SecretValues,
    DeniedClaimThere(&'static str),
    DeniedClaimEverywhere(&'static str),
    DeniedActionThere(&'static str),
    /// By one of the five manifests with lists.
    DeniedAction(&'static str, usize),
    /// A caveat instead.
    Caveat(Caveat),
}

fn less() -> impl Strategy<Value = Less> {
    let index = any::<Index>;
    let claim = || select(&CLAIMS[..]);
    let action = || select(&IDS[..]);
    prop_oneof![
        index().prop_map(Less::ActorClaim),
        index().prop_map(Less::ScenarioClaim),
        index().prop_map(Less::Role),
        index().prop_map(Less::ApiTarget),
        index().prop_map(Less::InteractionKind),
        Just(Less::SecretValues),
        claim().prop_map(Less::DeniedClaimThere),
        claim().prop_map(Less::DeniedClaimEverywhere),
        action().prop_map(Less::DeniedActionThere),
        (action(), 0usize..5).prop_map(|(action, by)| Less::DeniedAction(action, by)),
        caveat().prop_map(Less::Caveat),
    ]
}

fn caveat() -> impl Strategy<Value = Caveat> {
    let names = [("method", "GET"), ("path", "/v1/tasks"), (KIND, KINDS[0])];
    prop_oneof![
        select(&IDS[..]).prop_map(|only| Caveat::ActionAllowlist {
            actions: [id(only)].into()
        }),
        select(names.to_vec()).prop_map(|(name, value)| Caveat::BoundParameter {
            name: name.to_owned(),
            value: value.to_owned(),
        }),
        Just(Caveat::EgressClassAllowlist {
            classes: ["foreign".to_owned()].into()
        }),
        Just(Caveat::SelectionTokenAllowlist { tokens: [].into() }),
        Just(Caveat::ExpiresBefore {
            at: crate::support::at(1000)
        }),
    ]
}

fn take<T>(list: &mut Vec<T>, index: &Index) {
    if !list.is_empty() {
        list.remove(index.index(list.len()));
    }
}

impl Less {
    fn taken_from(&self, manifests: &mut Manifests) {
        let actor = manifests.actor.as_mut().unwrap();
        let (scenario, policy) = (&mut manifests.scenario, &mut manifests.policy);
        let claim = |claim: &str| located(claim.to_owned());
        match self {
            Self::ActorClaim(index) => take(&mut actor.claims, index),
            Self::ScenarioClaim(index) => take(&mut scenario.claims, index),
            Self::Role(index) => take(&mut actor.roles, index),
            Self::ApiTarget(index) => take(&mut scenario.api_targets, index),
            Self::InteractionKind(index) => take(&mut scenario.interaction_kinds, index),
            Self::SecretValues => scenario.secret_values = false,
            Self::DeniedClaimThere(denied) => scenario.denied_claims.push(claim(denied)),
            Self::DeniedClaimEverywhere(denied) => policy.denied_claims.push(claim(denied)),
            Self::DeniedActionThere(denied) => scenario.denied_actions.push(listed(denied)),
            Self::DeniedAction(denied, by) => {
                let mut deny_lists = manifests.lists().into_iter().skip(2).step_by(3);
                deny_lists.nth(*by).unwrap().push(listed(denied));
            }
            Self::Caveat(_) => {}
        }
    }

    fn caveat(&self) -> Vec<Caveat> {
        match self {
            Self::Caveat(caveat) => vec![caveat.clone()],
            _ => vec![],
        }
    }
}

/// Nothing is shown, loosened or let through by the second that was not by the first.
fn is_no_wider(
    before: &VerifiedGrant,
    after: &VerifiedGrant,
    catalog: &ActionCatalog,
) -> Result<(), TestCaseError> {
    let shown = standings(before, catalog);
    for (id, standing) in standings(after, catalog) {
        prop_assert_eq!(shown.get(&id), Some(&standing), "{:?}", id);
    }
    for call in IDS.iter().flat_map(|text| calls(text)) {
        if call.passes(after, catalog) {
            let outcomes = [before, after].map(|grant| call.outcome(grant, catalog));
            prop_assert_eq!(outcomes[0], outcomes[1], "{:?}", call);
        }
    }
    Ok(())
}

/// The mandate of these manifests, by the way that a grant's is made.
fn mandate(manifests: &Manifests) -> Mandate {
    let Manifests {
        actor,
        scenario,
        policy,
        ..
    } = manifests;
    Mandate::of(actor.as_ref().unwrap(), scenario, policy).unwrap()
}

/// Of an action for two roles, one may be held then and the other now: each mandate lets it pass, and
/// what is left of both does not.
fn asks_for_one_role_at_most(world: &World, text: &str) -> bool {
    let facts = world.get(&id(text));
    facts.is_none_or(|facts| facts.requirements.roles.len() < 2)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn less_is_never_wider(
        world in world(),
        manifests in manifests(),
        less in prop::collection::vec(less(), 1..4),
    ) {
        let catalog = catalog(&world);
        let mut narrower = manifests.clone();
        less.iter().for_each(|one| one.taken_from(&mut narrower));
        let before = verified(grant(&manifests, &catalog), []);
        let after = verified(grant(&narrower, &catalog), less.iter().map(Less::caveat));
        is_no_wider(&before, &after, &catalog)?;
    }

    /// A grant whose actor and scenario changed since it was issued allows what it did, as far as
    /// it would now.
    #[test]
    fn a_grant_within_another_mandate_is_what_both_allow(
        world in world(),
        issued in manifests(),
        by_now in manifests(),
    ) {
        let catalog = catalog(&world);
        let root = grant(&issued, &catalog);
        let now = mandate(&by_now);
        let before = verified(root.clone(), []);
        let after = before.clone().within(Some(&now));
        prop_assert_eq!(after.is_some(), issued.scenario.mode == by_now.scenario.mode);
        let Some(after) = after else { return Ok(()) };
        is_no_wider(&before, &after, &catalog)?;

        let of_now = verified(TaskGrant { mandate: Some(now), ..root }, []);
        is_no_wider(&of_now, &after, &catalog)?;
        for text in IDS.into_iter().filter(|text| asks_for_one_role_at_most(&world, text)) {
            for call in calls(text) {
                let [of_both, of_then, of_now] =
                    [&after, &before, &of_now].map(|grant| call.passes(grant, &catalog));
                prop_assert_eq!(of_both, of_then && of_now, "{:?}", call);
            }
        }
    }

    /// Of another actor, another scenario, another mode, or of none: the task is over.
    #[test]
    fn a_grant_within_another_s_mandate_is_over(
        world in world(),
        manifests in manifests(),
        which in 0usize..4,
    ) {
        let catalog = catalog(&world);
        let grant = verified(grant(&manifests, &catalog), []);
        let mut other = mandate(&manifests);
        prop_assert!(grant.clone().within(Some(&other)).is_some());
        let changed = [&mut other.actor, &mut other.scenario, &mut other.mode];
        match changed.into_iter().nth(which) {
            Some(word) => word.push('x'),
            None => prop_assert!(grant.clone().within(None).is_none()),
        }
        prop_assert_eq!(grant.within(Some(&other)).is_none(), which < 3);
    }

    /// A grant that came by lists alone stays as it is.
    #[test]
    fn a_grant_without_a_mandate_is_within_any(
        world in world(),
        mut manifests in manifests(),
        is_given in any::<bool>(),
    ) {
        let catalog = catalog(&world);
        let given = mandate(&manifests);
        manifests.actor = None;
        let before = verified(grant(&manifests, &catalog), []);
        let after = before.clone().within(is_given.then_some(&given)).unwrap();
        prop_assert!(after.mandate().is_none());
        is_no_wider(&before, &after, &catalog)?;
        is_no_wider(&after, &before, &catalog)?;
    }
}
