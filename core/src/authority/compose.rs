//! Composition: the manifests of one event become one authority.
//!
//! Pure: the catalog is asked by a function and the time is an argument. Deny beats approval beats
//! allow, and an action that no list names is nowhere. The first hit of these decides:
//!
//! 1. a manifest that is not active;
//! 2. a deny route;
//! 3. a route that wants a verified source, without one;
//! 4. an unknown action in any list, deny lists included;
//! 5. data more private than the pack takes;
//! 6. an expiry that no timestamp holds.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::claims::Mandate;
use super::event::{Event, Identity};
use super::manifest::{
    ActionList, Actor, AgentManifest, CapabilityPack, Listed, Policy, Route, Scenario,
    SessionPolicy, WorkflowManifest,
};
use super::terms::{DataClassification, Lifecycle, RouteEffect};
use crate::bound::BoundArgument;
use crate::id::ActionId;

/// Everything that composition looks at.
#[derive(Clone, Copy)]
pub struct ComposeInput<'a> {
    /// The event.
    pub event: &'a Event,
    /// Who sent it.
    pub identity: &'a Identity,
    /// The route that was resolved.
    pub route: &'a Route,
    /// The route's agent.
    pub agent: &'a AgentManifest,
    /// The route's workflow.
    pub workflow: &'a WorkflowManifest,
    /// The route's capability pack.
    pub pack: &'a CapabilityPack,
    /// The global policy.
    pub global_policy: &'a Policy,
    /// What the session adds.
    pub session: &'a SessionPolicy,
    /// What claims add, where the route names a scenario.
    pub claims: Option<ClaimsInput<'a>>,
    /// Whether an action id is in the catalog.
    pub known: &'a dyn Fn(&str) -> bool,
    /// The time of composition.
    pub now: Timestamp,
}

/// What composition by claims looks at.
#[derive(Clone, Copy)]
pub struct ClaimsInput<'a> {
    /// The route's scenario.
    pub scenario: &'a Scenario,
    /// The actor that the sender is, if it is one.
    pub actor: Option<&'a Actor>,
    /// The actions of the catalog that a mandate's claims offer.
    pub offered: &'a dyn Fn(&Mandate) -> BTreeSet<ActionId>,
}

/// The authority of one task.
///
/// INVARIANT: the three action lists have no action in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Composition {
    /// Actions that may be called.
    pub allowed_actions: BTreeSet<ActionId>,
    /// Actions that may be called after the owner approved.
    pub approval_required_actions: BTreeSet<ActionId>,
    /// Actions that may not be called.
    pub denied_actions: BTreeSet<ActionId>,
    /// Ways out, such as `search`; from the pack alone.
    pub egress_classes: BTreeSet<String>,
    /// Where output may go; from the agent alone.
    pub output_channels: BTreeSet<String>,
    /// What arguments are held to; from the capability pack alone.
    pub bound_arguments: Vec<BoundArgument>,
    /// What the actor and the scenario bring, where the route names a scenario and the sender is an
    /// actor.
    pub mandate: Option<Mandate>,
    /// What may be used up.
    pub limits: Limits,
    /// When it ends.
    pub expires_at: Timestamp,
    /// The manifests and versions it was made from.
    pub authority_sources: Vec<String>,
}

/// What a task may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The most model calls.
    pub max_model_calls: u32,
    /// The most artifacts.
    pub max_artifacts: u32,
    /// Seconds from composition to expiry.
    pub max_runtime_seconds: u64,
}

/// Why nothing was composed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComposeError {
    /// A manifest does not take part.
    #[error("{manifest} is not active (lifecycle_state={state:?})")]
    NotActive {
        /// Which: `route`, `agent`, `workflow`, `capability_pack`, `global_policy` or `scenario`.
        manifest: &'static str,
        /// Where it stands instead.
        state: Lifecycle,
    },
    /// The route turns events away.
    #[error("route {route} is a deny route")]
    DenyRoute {
        /// The route.
        route: String,
    },
    /// The route asks for a verified source and there is none.
    #[error("route requires a verified source, but the event/identity is not verified")]
    Unverified,
    /// A list names an action that is not in the catalog.
    #[error("unknown action `{id}` in {list}; correct it, or link the crate that has it")]
    UnknownAction {
        /// The action id, as written.
        id: String,
        /// The list, such as `pack.denied_actions`.
        list: String,
    },
    /// The event's data is more private than the pack takes.
    #[error("event data classification {event:?} exceeds pack maximum {max:?}")]
    TooPrivate {
        /// The event's.
        event: DataClassification,
        /// The pack's.
        max: DataClassification,
    },
    /// `now` plus the runtime is beyond what a timestamp holds.
    #[error("a runtime of {seconds} seconds ends after the last timestamp")]
    ExpiryOverflow {
        /// The runtime.
        seconds: u64,
    },
}

/// Composes the authority of one task.
///
/// Whether the route names this agent, workflow and pack is not looked at here: the caller takes them
/// from the route, and [`ManifestSet`](super::ManifestSet) checked that they fit.
///
/// # Errors
/// The first reason to refuse; see [`ComposeError`].
pub fn compose(input: &ComposeInput<'_>) -> Result<Composition, ComposeError> {
    check_active(input)?;
    check_route(input)?;
    let mut lists = Lists::read(input)?;
    let by_claims = by_claims(input);
    if let (None, Some(claims)) = (&by_claims, input.claims) {
        // What nobody may call in a scenario, one who is no actor may not call there either.
        lists.deny.extend(denied_in(claims.scenario));
    }
    if let Some((claims, _, mandate)) = &by_claims {
        // One merge: what claims offer is allowed like what a list allows, and no more than that.
        lists.allow.extend((claims.offered)(mandate));
    }
    let bound_arguments = read_bounds(input)?;
    check_classification(input)?;

    let ComposeInput {
        route,
        agent,
        workflow,
        pack,
        global_policy,
        ..
    } = input;
    let max_runtime_seconds = match pack.constraints.max_runtime_seconds {
        Some(of_pack) => agent.limits.max_runtime_seconds.min(of_pack),
        None => agent.limits.max_runtime_seconds,
    };
    let mut authority_sources = vec![
        format!("global_policy:v{}", global_policy.version),
        format!("route:{}:v{}", route.id, route.version),
        format!("agent:{}:v{}", agent.id, agent.version),
        format!("workflow:{}:v{}", workflow.id, workflow.version),
        format!("capability_pack:{}:v{}", pack.id, pack.version),
    ];
    if let Some((ClaimsInput { scenario, .. }, actor, _)) = &by_claims {
        authority_sources.push(format!("scenario:{}:v{}", scenario.id, scenario.version));
        authority_sources.push(format!("actor:{}:v{}", actor.id, actor.version));
    }
    let (allowed_actions, approval_required_actions, denied_actions) = lists.settle();
    Ok(Composition {
        allowed_actions,
        approval_required_actions,
        denied_actions,
        egress_classes: pack.allowed_egress_classes.iter().cloned().collect(),
        output_channels: agent.output_channels.allowed.iter().cloned().collect(),
        bound_arguments,
        limits: Limits {
            max_model_calls: agent.model_policy.max_model_calls_per_task,
            max_artifacts: agent.limits.max_artifacts,
            max_runtime_seconds,
        },
        expires_at: expiry(input.now, max_runtime_seconds)?,
        authority_sources,
        mandate: by_claims.map(|(_, _, mandate)| mandate),
    })
}

/// The actions that a scenario denies. Sets are checked for malformed ids; one that got here denies
/// nothing that exists.
pub(super) fn denied_in(scenario: &Scenario) -> impl Iterator<Item = ActionId> {
    let denied = scenario.denied_actions.iter();
    denied.filter_map(|listed| ActionId::parse(&listed.id).ok())
}

/// What the actor and the scenario bring. A sender who is no active actor brings nothing.
fn by_claims<'a>(input: &ComposeInput<'a>) -> Option<(ClaimsInput<'a>, &'a Actor, Mandate)> {
    let claims = input.claims?;
    let actor = claims.actor?;
    let mandate = Mandate::of(actor, claims.scenario, input.global_policy)?;
    Some((claims, actor, mandate))
}

fn check_active(input: &ComposeInput<'_>) -> Result<(), ComposeError> {
    let states = [
        ("route", input.route.lifecycle_state),
        ("agent", input.agent.lifecycle_state),
        ("workflow", input.workflow.lifecycle_state),
        ("capability_pack", input.pack.lifecycle_state),
        ("global_policy", input.global_policy.lifecycle_state),
    ];
    let claims = input.claims;
    let scenario = claims.map(|claims| ("scenario", claims.scenario.lifecycle_state));
    match states
        .into_iter()
        .chain(scenario)
        .find(|(_, state)| *state != Lifecycle::Active)
    {
        Some((manifest, state)) => Err(ComposeError::NotActive { manifest, state }),
        None => Ok(()),
    }
}

fn check_route(input: &ComposeInput<'_>) -> Result<(), ComposeError> {
    let ComposeInput {
        route,
        event,
        identity,
        ..
    } = input;
    if route.effect != RouteEffect::Allow {
        return Err(ComposeError::DenyRoute {
            route: route.id.to_string(),
        });
    }
    let wants_verified = route.when.verified_source == Some(true);
    if wants_verified && !(event.verified_source && identity.source_verified) {
        return Err(ComposeError::Unverified);
    }
    Ok(())
}

fn check_classification(input: &ComposeInput<'_>) -> Result<(), ComposeError> {
    let event = input.event.data_classification;
    match input.pack.constraints.data_classification_max {
        Some(max) if event > max => Err(ComposeError::TooPrivate { event, max }),
        _ => Ok(()),
    }
}

fn expiry(now: Timestamp, seconds: u64) -> Result<Timestamp, ComposeError> {
    i64::try_from(seconds)
        .ok()
        .and_then(|seconds| now.checked_add(SignedDuration::from_secs(seconds)).ok())
        .ok_or(ComposeError::ExpiryOverflow { seconds })
}

/// Reads the pack's bounds. One of an action that does not exist would leave the action that was
/// meant unbound.
fn read_bounds(input: &ComposeInput<'_>) -> Result<Vec<BoundArgument>, ComposeError> {
    let known = input.known;
    let bounds = input.pack.bound_arguments.iter().map(|bound| {
        let id = bound.action.as_str();
        match known(id) {
            true => Ok(bound.value.clone()),
            false => Err(ComposeError::UnknownAction {
                id: id.to_owned(),
                list: "pack.bound_arguments".to_owned(),
            }),
        }
    });
    bounds.collect()
}

/// Reads the lists of one manifest, in their order.
fn read_lists(
    manifest: &str,
    [allow, approval, deny]: [ActionList<'_>; 3],
    known: &dyn Fn(&str) -> bool,
) -> Result<[BTreeSet<ActionId>; 3], ComposeError> {
    let read = |list: ActionList<'_>| -> Result<BTreeSet<ActionId>, ComposeError> {
        let ids = list.actions.iter().map(|Listed { id, .. }| {
            // A catalog that knows an id which is none must not get it into a grant.
            let action = ActionId::parse(id).ok().filter(|_| known(id));
            action.ok_or_else(|| ComposeError::UnknownAction {
                id: id.clone(),
                list: format!("{manifest}.{}", list.field),
            })
        });
        ids.collect()
    };
    Ok([read(allow)?, read(approval)?, read(deny)?])
}

/// All action lists, read and known, not yet set against each other.
struct Lists {
    allow: BTreeSet<ActionId>,
    approval: BTreeSet<ActionId>,
    deny: BTreeSet<ActionId>,
    /// Each of these that is not empty keeps only its own actions in `allow`.
    narrow: [BTreeSet<ActionId>; 2],
}

impl Lists {
    /// Reads the lists in the order in which an unknown action is looked for.
    fn read(input: &ComposeInput<'_>) -> Result<Self, ComposeError> {
        let ComposeInput {
            agent,
            workflow,
            pack,
            global_policy,
            session,
            known,
            ..
        } = *input;
        let [agent_allow, agent_approval, agent_deny] = read_lists("agent", agent.lists(), known)?;
        let [flow_allow, flow_approval, flow_deny] =
            read_lists("workflow", workflow.lists(), known)?;
        let [pack_allow, pack_approval, pack_deny] = read_lists("pack", pack.lists(), known)?;
        let [global_narrow, global_approval, global_deny] =
            read_lists("global_policy", global_policy.lists(), known)?;
        let [session_narrow, session_approval, session_deny] =
            read_lists("session", session.lists(), known)?;
        let union = |sets: Vec<BTreeSet<ActionId>>| sets.into_iter().flatten().collect();
        Ok(Self {
            allow: union(vec![agent_allow, flow_allow, pack_allow]),
            approval: union(vec![
                agent_approval,
                flow_approval,
                pack_approval,
                global_approval,
                session_approval,
            ]),
            deny: union(vec![
                agent_deny,
                flow_deny,
                pack_deny,
                global_deny,
                session_deny,
            ]),
            narrow: [global_narrow, session_narrow],
        })
    }

    /// Allowed, approval-required and denied: deny beats approval beats allow.
    fn settle(self) -> (BTreeSet<ActionId>, BTreeSet<ActionId>, BTreeSet<ActionId>) {
        let Self {
            mut allow,
            mut approval,
            deny,
            narrow,
        } = self;
        for only in narrow.iter().filter(|only| !only.is_empty()) {
            allow.retain(|action| only.contains(action));
        }
        approval.retain(|action| !deny.contains(action));
        allow.retain(|action| !deny.contains(action) && !approval.contains(action));
        (allow, approval, deny)
    }
}

#[cfg(test)]
mod tests;
