//! The second way to authority: what an actor and the scenario of its task bring.
//!
//! An actor has roles and claims of its own; a scenario says in which mode a task is worked at, adds
//! claims, and switches policies. Together they are the [`Mandate`], which a grant carries. What the
//! mandate offers of the catalog is merged with what manifests list, under one precedence; and the
//! gate holds each call to the mandate, whichever way the action came into the grant.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::compose::denied_in;
use super::document::Located;
use super::manifest::{Actor, Policy, Scenario};
use super::terms::Lifecycle;
use crate::api_target::ApiTarget;
use crate::id::ActionId;
use crate::requirement::{Class, Requirements, folded_role};

/// What an actor may be offered in a scenario, and what it may not do there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mandate {
    /// The actor.
    pub actor: String,
    /// The scenario.
    pub scenario: String,
    /// The task mode.
    pub mode: String,
    /// The actor's roles, as [`folded_role`] gives them.
    pub roles: BTreeSet<String>,
    /// Claims that the actor or the scenario holds.
    pub claims: BTreeSet<String>,
    /// Claims that policy denies, whoever holds them.
    pub denied_claims: BTreeSet<String>,
    /// Actions that policy denies.
    pub denied_actions: BTreeSet<ActionId>,
    /// Whether values of secrets may be read.
    pub secret_values: bool,
    /// The ways in which a person may be turned to.
    pub interaction_kinds: BTreeSet<String>,
    /// What an escape hatch may be told to send; it is off where nothing may be sent.
    pub api_targets: BTreeSet<ApiTarget>,
}

/// Why a mandate does not let an action be called. The first in the order of checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unmet {
    PolicyDenied,
    Mode,
    Role,
    ClaimDenied,
    ClaimMissing,
    SecretValues,
    EscapeHatch,
    Interaction,
}

impl Mandate {
    /// The mandate of an actor in a scenario; `None` unless both are active.
    #[must_use]
    pub fn of(actor: &Actor, scenario: &Scenario, policy: &Policy) -> Option<Self> {
        let active = Lifecycle::Active;
        if actor.lifecycle_state != active || scenario.lifecycle_state != active {
            return None;
        }
        let texts = |lists: &[&[Located<String>]]| -> BTreeSet<String> {
            let all = lists.iter().flat_map(|list| list.iter());
            all.map(|text| text.value.clone()).collect()
        };
        Some(Self {
            actor: actor.id.value.clone(),
            scenario: scenario.id.value.clone(),
            mode: scenario.mode.value.clone(),
            roles: actor
                .roles
                .iter()
                .map(|role| folded_role(&role.value))
                .collect(),
            claims: texts(&[&actor.claims, &scenario.claims]),
            denied_claims: texts(&[&scenario.denied_claims, &policy.denied_claims]),
            denied_actions: denied_in(scenario).collect(),
            secret_values: scenario.secret_values,
            interaction_kinds: texts(&[&scenario.interaction_kinds]),
            api_targets: scenario
                .api_targets
                .iter()
                .map(|t| t.value.clone())
                .collect(),
        })
    }

    /// What both allow: of one actor in one scenario, at two times. `None` when they are not.
    ///
    /// INVARIANT: it allows nothing that either of the two does not.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Option<Self> {
        let same = (&self.actor, &self.scenario, &self.mode)
            == (&other.actor, &other.scenario, &other.mode);
        same.then(|| Self {
            actor: self.actor.clone(),
            scenario: self.scenario.clone(),
            mode: self.mode.clone(),
            roles: &self.roles & &other.roles,
            claims: &self.claims & &other.claims,
            denied_claims: &self.denied_claims | &other.denied_claims,
            denied_actions: &self.denied_actions | &other.denied_actions,
            secret_values: self.secret_values && other.secret_values,
            interaction_kinds: &self.interaction_kinds & &other.interaction_kinds,
            api_targets: &self.api_targets & &other.api_targets,
        })
    }

    /// Whether an action is offered by these claims: it has a class that agents are offered, and the
    /// mandate meets what it requires.
    #[must_use]
    pub fn offers(&self, id: &ActionId, requirements: &Requirements) -> bool {
        matches!(requirements.class, Some(Class::Always | Class::Optional))
            && unmet(Some(self), id, requirements).is_none()
    }

    /// Of an action's claims, those held and those missing. A claim that policy denies is missing,
    /// whoever holds it.
    #[must_use]
    pub fn sorted_claims<'r>(
        mandate: Option<&Self>,
        requirements: &'r Requirements,
    ) -> (Vec<&'r str>, Vec<&'r str>) {
        let holds = |claim: &&str| {
            mandate.is_some_and(|m| m.claims.contains(*claim) && !m.denied_claims.contains(*claim))
        };
        requirements
            .claims
            .iter()
            .map(String::as_str)
            .partition(holds)
    }
}

/// What an action requires and a mandate does not meet, in the order of checks; what depends on a
/// call's arguments is left out, but for a policy that no argument could meet.
pub(crate) fn unmet(
    mandate: Option<&Mandate>,
    id: &ActionId,
    requirements: &Requirements,
) -> Option<Unmet> {
    let none = Mandate::default();
    // A grant without a mandate meets what one that holds nothing meets.
    let held = mandate.unwrap_or(&none);
    let Requirements {
        claims,
        roles,
        modes,
        ..
    } = requirements;
    let checks = [
        (held.denied_actions.contains(id), Unmet::PolicyDenied),
        (
            !modes.is_empty() && !modes.contains(&held.mode),
            Unmet::Mode,
        ),
        (
            !roles.is_empty() && roles.is_disjoint(&held.roles),
            Unmet::Role,
        ),
        (!claims.is_disjoint(&held.denied_claims), Unmet::ClaimDenied),
        (!claims.is_subset(&held.claims), Unmet::ClaimMissing),
        (
            requirements.reads_secrets && !held.secret_values,
            Unmet::SecretValues,
        ),
        (
            requirements.escape_hatch.is_some() && held.api_targets.is_empty(),
            Unmet::EscapeHatch,
        ),
        (
            requirements.interaction.is_some() && held.interaction_kinds.is_empty(),
            Unmet::Interaction,
        ),
    ];
    checks
        .into_iter()
        .find_map(|(refused, why)| refused.then_some(why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::sample;

    const ACTOR: &str = "
id: ada
schema_version: 1
lifecycle_state: active
principal_id: owner
roles: [' Board ', board, CLERK]
claims: [own, both]
";
    const SCENARIO: &str = "
id: desk
schema_version: 1
lifecycle_state: active
mode: standard
claims: [added, both]
denied_claims: [there, both]
denied_actions: [mail.send]
secret_values: true
interaction_kinds: [confirm]
api_targets: [{method: get, path: /v1/tasks}]
";
    const POLICY: &str = "
id: global
schema_version: 1
lifecycle_state: active
denied_actions: [mail.read]
denied_claims: [everywhere]
";

    fn texts(texts: &[&str]) -> BTreeSet<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn id(text: &str) -> ActionId {
        ActionId::parse(text).unwrap()
    }

    fn of(actor: &Actor, scenario: &Scenario) -> Option<Mandate> {
        Mandate::of(actor, scenario, &sample::manifest(POLICY))
    }

    fn both() -> (Actor, Scenario) {
        (sample::manifest(ACTOR), sample::manifest(SCENARIO))
    }

    fn mandate() -> Mandate {
        let (actor, scenario) = both();
        of(&actor, &scenario).unwrap()
    }

    #[test]
    fn a_mandate_is_what_actor_scenario_and_policy_say() {
        let (_, scenario) = both();
        let expected = Mandate {
            actor: "ada".to_owned(),
            scenario: "desk".to_owned(),
            mode: "standard".to_owned(),
            roles: texts(&["board", "clerk"]),
            claims: texts(&["added", "both", "own"]),
            denied_claims: texts(&["both", "everywhere", "there"]),
            // What the policy denies is in the grant's own list.
            denied_actions: [id("mail.send")].into(),
            secret_values: true,
            interaction_kinds: texts(&["confirm"]),
            api_targets: [scenario.api_targets[0].value.clone()].into(),
        };
        assert_eq!(mandate(), expected);
    }

    #[test]
    fn whoever_is_not_active_has_no_mandate() {
        let (actor, scenario) = both();
        let mut gone = actor.clone();
        gone.lifecycle_state = Lifecycle::Retired;
        assert_eq!(of(&gone, &scenario), None);
        let mut over = scenario.clone();
        over.lifecycle_state = Lifecycle::Approved;
        assert_eq!(of(&actor, &over), None);
        assert!(of(&actor, &scenario).is_some());
    }

    #[test]
    fn two_mandates_meet_in_what_both_allow() {
        let one = mandate();
        let (mut actor, mut scenario) = both();
        actor.roles.remove(2);
        actor.claims.clear();
        scenario.denied_claims.remove(0);
        scenario.denied_actions[0].id = "mail.read".to_owned();
        scenario.secret_values = false;
        scenario.interaction_kinds.clear();
        scenario.api_targets.clear();
        let other = of(&actor, &scenario).unwrap();
        let expected = Mandate {
            roles: texts(&["board"]),
            claims: texts(&["added", "both"]),
            denied_actions: [id("mail.read"), id("mail.send")].into(),
            secret_values: false,
            interaction_kinds: BTreeSet::new(),
            api_targets: BTreeSet::new(),
            ..one.clone()
        };
        assert_eq!(one.meet(&other), Some(expected.clone()));
        assert_eq!(other.meet(&one), Some(expected));
        assert_eq!(one.meet(&one), Some(one));
    }

    #[test]
    fn mandates_of_another_actor_scenario_or_mode_do_not_meet() {
        let one = mandate();
        let others = [
            Mandate {
                actor: "eve".to_owned(),
                ..one.clone()
            },
            Mandate {
                scenario: "lab".to_owned(),
                ..one.clone()
            },
            Mandate {
                mode: "planning".to_owned(),
                ..one.clone()
            },
        ];
        for other in others {
            assert_eq!(one.meet(&other), None, "{other:?}");
        }
    }
}
