//! Claims and lists become one grant, under one precedence.

use std::collections::BTreeSet;

use actum::authority::Listed;
use actum::authority::document::Located;
use actum::requirement::{Requirements, folded_role};
use actum::{ActionCatalog, ActionId, Class};
use proptest::prelude::*;
use proptest::sample::select;

use crate::call::calls;
use crate::config;
use crate::support::manifests::{Manifests, listed, located};
use crate::support::{id, verified};
use crate::world::{Facts, IDS, World, catalog, grant, manifests, standings, world};

/// Who an actor in its scenario is, in sets of words.
struct Held {
    roles: BTreeSet<String>,
    claims: BTreeSet<String>,
}

fn words(lists: &[&[Located<String>]]) -> BTreeSet<String> {
    let all = lists.iter().flat_map(|list| list.iter());
    all.map(|word| word.value.clone()).collect()
}

fn ids(lists: &[&[Listed]]) -> BTreeSet<ActionId> {
    let all = lists.iter().flat_map(|list| list.iter());
    all.map(|listed| id(&listed.id)).collect()
}

impl Held {
    fn of(manifests: &Manifests) -> Self {
        let actor = manifests.actor.as_ref().unwrap();
        let roles = words(&[&actor.roles]);
        let held = words(&[&actor.claims, &manifests.scenario.claims]);
        let denied = words(&[
            &manifests.scenario.denied_claims,
            &manifests.policy.denied_claims,
        ]);
        Self {
            // The roles drawn are ASCII.
            roles: roles
                .iter()
                .map(|role| role.trim().to_ascii_lowercase())
                .collect(),
            claims: &held - &denied,
        }
    }

    /// Whether claims offer the action: it is for agents, something dispatches it, and all that it
    /// requires is held.
    fn are_offered(&self, id: &ActionId, facts: &Facts, manifests: &Manifests) -> bool {
        let scenario = &manifests.scenario;
        let Requirements {
            class,
            claims,
            roles,
            modes,
            reads_secrets,
            escape_hatch,
            interaction,
        } = &facts.requirements;
        facts.dispatchable
            && matches!(class, Some(Class::Always | Class::Optional))
            && claims.iter().all(|claim| self.claims.contains(claim))
            && (roles.is_empty() || roles.iter().any(|role| self.roles.contains(role)))
            && (modes.is_empty() || modes.contains(&scenario.mode.value))
            && (!reads_secrets || scenario.secret_values)
            && (escape_hatch.is_none() || !scenario.api_targets.is_empty())
            && (interaction.is_none() || !scenario.interaction_kinds.is_empty())
            && scenario
                .denied_actions
                .iter()
                .all(|denied| denied.id != id.as_str())
    }
}

fn offered(world: &World, manifests: &Manifests) -> BTreeSet<ActionId> {
    let held = Held::of(manifests);
    let offered = world
        .iter()
        .filter(|(id, facts)| held.are_offered(id, facts, manifests));
    offered.map(|(id, _)| id.clone()).collect()
}

/// Doubles every list, and turns it round from some place on.
fn doubled(manifests: &Manifests, from: usize) -> Manifests {
    fn double<T: Clone>(list: &mut Vec<T>, from: usize) {
        list.extend(list.clone());
        list.reverse();
        let from = from.checked_rem(list.len()).unwrap_or_default();
        list.rotate_left(from);
    }
    let mut other = manifests.clone();
    other
        .lists()
        .into_iter()
        .for_each(|list| double(list, from));
    let actor = other.actor.as_mut().unwrap();
    double(&mut actor.roles, from);
    double(&mut actor.claims, from);
    let scenario = &mut other.scenario;
    double(&mut scenario.claims, from);
    double(&mut scenario.denied_claims, from);
    double(&mut scenario.denied_actions, from);
    double(&mut scenario.interaction_kinds, from);
    double(&mut scenario.api_targets, from);
    double(&mut other.policy.denied_claims, from);
    other
}

proptest! {
    #![proptest_config(config())]

    /// What claims offer is allowed like what a list allows: narrowed by each policy's own list, asked
    /// for where any list asks, and gone where any list denies.
    #[test]
    fn claims_and_lists_merge_under_one_precedence(world in world(), manifests in manifests()) {
        let composed = manifests.compose(&catalog(&world)).unwrap();
        let Manifests { agent, workflow, pack, policy, session, .. } = &manifests;
        let denied = ids(&[
            &agent.denied_tools,
            &workflow.denied_actions,
            &pack.denied_actions,
            &policy.denied_actions,
            &session.denied_actions,
        ]);
        let asked = ids(&[
            &agent.approval_required_tools,
            &workflow.approval_required,
            &pack.approval_required,
            &policy.approval_required,
            &session.approval_required,
        ]);
        let listed = ids(&[
            &agent.designed_tools,
            &workflow.candidate_allowed_actions,
            &pack.candidate_allowed_actions,
        ]);
        let mut allowed = &listed | &offered(&world, &manifests);
        for only in [&policy.candidate_allowed_actions, &session.candidate_allowed_actions] {
            let only = ids(&[only]);
            allowed.retain(|id| only.is_empty() || only.contains(id));
        }
        prop_assert_eq!(&composed.denied_actions, &denied);
        prop_assert_eq!(&composed.approval_required_actions, &(&asked - &denied));
        prop_assert_eq!(&composed.allowed_actions, &(&(&allowed - &denied) - &asked));
    }

    /// Manifests are sets, whatever the order and repetition in their lists.
    #[test]
    fn order_and_repetition_do_not_matter(
        world in world(),
        manifests in manifests(),
        from in 0usize..12,
    ) {
        let catalog = catalog(&world);
        let other = doubled(&manifests, from);
        prop_assert_eq!(manifests.compose(&catalog), other.compose(&catalog));
    }

    /// Whatever else names or offers it: what one list denies is absent, and refused.
    #[test]
    fn deny_always_wins(
        world in world(),
        manifests in manifests(),
        denied in select(&IDS[..]),
        by in 0usize..6,
    ) {
        let catalog = catalog(&world);
        let before = standings(&verified(grant(&manifests, &catalog), []), &catalog);
        let mut stricter = manifests;
        for (index, list) in stricter.lists().into_iter().enumerate() {
            // Allowed and asked for everywhere, and denied by one.
            if index % 3 != 2 || index / 3 == by {
                list.push(listed(denied));
            }
        }
        if by == 5 {
            stricter.scenario.denied_actions.push(listed(denied));
        }
        // A policy's allow list that was empty narrows nothing.
        for only in [
            &mut stricter.policy.candidate_allowed_actions,
            &mut stricter.session.candidate_allowed_actions,
        ] {
            if only.len() == 1 {
                only.clear();
            }
        }
        let grant = verified(grant(&stricter, &catalog), []);
        let mut shown = before;
        shown.remove(denied);
        prop_assert_eq!(standings(&grant, &catalog), shown);
        for call in calls(denied) {
            prop_assert!(!call.passes(&grant, &catalog), "{:?}", call);
        }
    }

    /// A role is the same role with spaces around it and in another case; a claim is not the same claim.
    #[test]
    fn a_role_compares_trimmed_and_without_case_and_a_claim_exactly(
        text in "[a-zßéωд:]{1,8}",
        before in "[ \\t]{0,2}",
        after in "[ \\t]{0,2}",
        is_upper in any::<bool>(),
    ) {
        let cased = if is_upper { text.to_uppercase() } else { text.clone() };
        let written = format!("{before}{cased}{after}");
        let mut manifests = Manifests::new();
        let actor = manifests.actor.as_mut().unwrap();
        actor.roles = vec![located(written.clone())];
        actor.claims = vec![located(written.clone())];
        let is_offered = |required: Requirements| {
            let required = [(id("x"), required)].into();
            let catalog = ActionCatalog::new([id("x")]).with_requirements(required);
            !manifests.compose(&catalog).unwrap().allowed_actions.is_empty()
        };
        let for_role = |role: &str| Requirements {
            roles: [folded_role(role)].into(),
            ..Requirements::of(Class::Always)
        };
        prop_assert!(is_offered(for_role(&text)), "{:?} for {:?}", written, text);
        let longer = format!("{text}x");
        prop_assert!(!is_offered(for_role(&longer)), "{:?} for {:?}", written, longer);
        let for_claim = Requirements {
            claims: [text.clone()].into(),
            ..Requirements::of(Class::Optional)
        };
        prop_assert_eq!(is_offered(for_claim), written == text, "{:?}", written);
    }
}
