//! What another set of manifests does to what each route gives: before it is in force.
//!
//! No event is at hand then, so each route is asked with one that it lets in: verified, as public as can be, with a
//! selection of every type. A route with a scenario is asked for each actor, and for a sender who is none. Whom a route
//! lets in is told by its conditions; which of several routes an event goes by depends on the event, so that any change
//! of a route's conditions, effect, priority or state *widens*.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::Serialize;
use ulid::Ulid;

use super::{About, Difference, Side, difference};
use crate::authority::event::{ActorHint, Event, Identity, RawEventRef, TrustContext};
use crate::authority::manifest::RouteMatch;
use crate::authority::terms::{
    ChannelTrust, DataClassification, IdentifierType, InteractionMode, Lane, Lifecycle,
    RouteEffect, VerificationMethod,
};
use crate::authority::{
    Actor, ClaimsInput, ComposeInput, Composition, Limits, Mandate, ManifestSet, Route,
    SessionPolicy, compose,
};
use crate::catalog::ActionCatalog;
use crate::digest::Digest;
use crate::grant::{GrantMode, Principal, SealKey, SealedGrant, TaskGrant, VerifiedGrant};
use crate::lock::Label;

/// The most pairs of a route and a sender that are asked.
const MAX_ASKED: usize = 2_000;

/// What is different for the tasks of one route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RouteDifference {
    /// The route.
    pub route: String,
    /// The actor whose tasks these are; `None` for everybody, or where the sender is no actor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// What is different.
    pub differences: Vec<Difference>,
}

/// Everything that is different between what two sets give.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SetDifference {
    /// The routes, by name, each first for itself and then for each actor. Where an actor has the very differences of
    /// a sender who is none, they are told once.
    pub routes: Vec<RouteDifference>,
    /// How many pairs of a route and an actor were not asked, since there are too many.
    pub left_out: usize,
}

/// What is different between what two sets of manifests give over one catalog.
#[must_use]
pub fn between(from: &ManifestSet, to: &ManifestSet, catalog: &ActionCatalog) -> SetDifference {
    let ids = |set: &ManifestSet| -> BTreeSet<String> {
        set.routes().map(|route| route.id.to_string()).collect()
    };
    let actors: BTreeSet<String> = [from, to]
        .into_iter()
        .flat_map(ManifestSet::actors)
        .map(|actor| actor.id.to_string())
        .collect();
    let mut found = SetDifference::default();
    let mut asked = 0_usize;
    for id in &ids(from) | &ids(to) {
        let routes = [from.route(&id), to.route(&id)];
        let mut of_all = conditions(&id, routes);
        let sides = [(from, routes[0]), (to, routes[1])];
        let of_nobody = of_sender(sides, None, catalog);
        of_all.extend(of_nobody.iter().cloned());
        found.keep(&id, None, of_all);
        let by_claims = routes
            .iter()
            .flatten()
            .any(|route| route.scenario.is_some());
        for actor in actors.iter().filter(|_| by_claims) {
            asked = asked.saturating_add(1);
            if asked > MAX_ASKED {
                found.left_out = found.left_out.saturating_add(1);
                continue;
            }
            let of_actor = of_sender(sides, Some(actor), catalog);
            if of_actor != of_nobody {
                found.keep(&id, Some(actor), of_actor);
            }
        }
    }
    found
}

impl SetDifference {
    fn keep(&mut self, route: &str, actor: Option<&String>, differences: Vec<Difference>) {
        if !differences.is_empty() {
            self.routes.push(RouteDifference {
                route: route.to_owned(),
                actor: actor.cloned(),
                differences,
            });
        }
    }

    /// The labels of all differences.
    #[must_use]
    pub fn labels(&self) -> Vec<Label> {
        let all = self.routes.iter().flat_map(|route| &route.differences);
        all.map(|one| one.label).collect()
    }
}

/// What is different in whom a route is for.
fn conditions(id: &str, [was, is]: [Option<&Route>; 2]) -> Vec<Difference> {
    let told = |route: Option<&Route>| match route {
        Some(route) if route.lifecycle_state == Lifecycle::Active => {
            let effect = match route.effect {
                RouteEffect::Allow => "lets in",
                RouteEffect::Deny => "turns away",
            };
            let priority = route.priority.map(|it| format!(", with priority {it}"));
            let events = events(&route.when);
            Some(format!("{effect} {events}{}", priority.unwrap_or_default()))
        }
        _ => None,
    };
    let words = match (told(was), told(is)) {
        (was, is) if was == is => return Vec::new(),
        (None, Some(is)) => format!("is in force, and was not: it {is}"),
        (Some(was), None) => format!("is not in force any more: it {was}"),
        (was, is) => format!(
            "it {}, and not any more: it {}",
            is.unwrap_or_default(),
            was.unwrap_or_default()
        ),
    };
    vec![Difference {
        about: About::Route,
        subject: id.to_owned(),
        label: Label::Widens,
        words,
    }]
}

/// The events that conditions are about, in words.
fn events(when: &RouteMatch) -> String {
    let text = |name: &str, value: &Option<String>| {
        value
            .as_ref()
            .map(|value| format!("{name} {}", value.escape_debug()))
    };
    let mut parts: Vec<String> = [
        text("source", &when.source),
        text("type", &when.event_type),
        text("connector", &when.connector),
        text("account role", &when.account_role),
        text("account", &when.channel_account),
        when.lane.map(|lane| format!("lane {}", word(&lane))),
        when.verified_source.map(|verified| match verified {
            true => "a verified source".to_owned(),
            false => "a source that is not verified".to_owned(),
        }),
    ]
    .into_iter()
    .flatten()
    .collect();
    if let Some(actor) = &when.actor {
        parts.extend(
            actor
                .relationship
                .map(|it| format!("relationship {}", word(&it))),
        );
        parts.extend(
            actor
                .channel_trust
                .map(|it| format!("channel trust {}", word(&it))),
        );
        let confidence = actor.identity_confidence_min.as_ref();
        parts.extend(confidence.map(|min| format!("confidence {} or more", min.value)));
    }
    match parts.is_empty() {
        true => "every event".to_owned(),
        false => format!("events of {}", parts.join(", ")),
    }
}

/// A term as it is written.
fn word<T: Serialize>(term: &T) -> String {
    let value = serde_json::to_value(term).ok();
    let text = value.as_ref().and_then(serde_json::Value::as_str);
    text.unwrap_or_default().to_owned()
}

/// What is different for one sender, an actor or nobody known.
fn of_sender(
    sides: [(&ManifestSet, Option<&Route>); 2],
    actor: Option<&String>,
    catalog: &ActionCatalog,
) -> Vec<Difference> {
    let [was, is] = sides.map(|(set, route)| {
        route.and_then(|route| {
            let actor = actor.and_then(|id| set.actors().find(|actor| *actor.id == **id));
            composed(set, route, actor, catalog)
        })
    });
    let nothing = [was.is_none(), is.is_none()];
    if nothing == [true, true] {
        return Vec::new();
    }
    let (Some(was), Some(is)) = (grant(was, catalog), grant(is, catalog)) else {
        return Vec::new();
    };
    let side = |grant| Side { grant, catalog };
    let mut found = difference(side(&was), side(&is));
    if nothing.contains(&true) {
        // How long nothing lasts is no difference.
        found.retain(|one| !matches!(one.about, About::Lifetime | About::Limit | About::Mode));
    }
    found
}

/// What a route gives, if it gives anything.
fn composed(
    set: &ManifestSet,
    route: &Route,
    actor: Option<&Actor>,
    catalog: &ActionCatalog,
) -> Option<Composition> {
    let (agent, workflow, pack) = set.manifests_of(route)?;
    let offered = |mandate: &Mandate| catalog.offered_to(mandate);
    let claims = set.scenario_of(route).map(|scenario| ClaimsInput {
        scenario,
        actor,
        offered: &offered,
    });
    let composition = compose(&ComposeInput {
        event: &event(),
        identity: &identity(),
        route,
        agent,
        workflow,
        pack,
        global_policy: set.global_policy(),
        session: &SessionPolicy::default(),
        claims,
        known: &|id| catalog.is_known(id),
        now: Timestamp::UNIX_EPOCH,
    });
    composition.ok()
}

/// A grant of what was composed; of nothing where nothing was.
fn grant(composition: Option<Composition>, catalog: &ActionCatalog) -> Option<VerifiedGrant> {
    let composition = composition.unwrap_or(Composition {
        allowed_actions: BTreeSet::new(),
        approval_required_actions: BTreeSet::new(),
        denied_actions: BTreeSet::new(),
        egress_classes: BTreeSet::new(),
        output_channels: BTreeSet::new(),
        bound_arguments: Vec::new(),
        mandate: None,
        limits: Limits {
            max_model_calls: 0,
            max_artifacts: 0,
            max_runtime_seconds: 0,
        },
        expires_at: Timestamp::UNIX_EPOCH,
        authority_sources: Vec::new(),
    });
    let types: BTreeSet<&str> = catalog
        .ids()
        .into_iter()
        .filter_map(|id| catalog.selection_token_type_for(id.as_str()))
        .collect();
    let tokens = types.into_iter().zip(1..);
    let grant = TaskGrant {
        id: Ulid::nil(),
        task_id: Ulid::nil(),
        event_id: Ulid::nil(),
        principal: Principal::Anonymous(String::new()),
        purpose: String::new(),
        allowed_actions: composition.allowed_actions,
        approval_required_actions: composition.approval_required_actions,
        denied_actions: composition.denied_actions,
        allowed_egress_classes: composition.egress_classes,
        output_channels: composition.output_channels,
        selection_tokens: tokens
            .map(|(token_type, number)| (Ulid(number), token_type.to_owned()))
            .collect(),
        bound_arguments: composition.bound_arguments,
        mandate: composition.mandate,
        limits: composition.limits,
        mode: GrantMode::Live,
        reply_to: None,
        issued_at: Timestamp::UNIX_EPOCH,
        expires_at: composition.expires_at,
        authority_sources: composition.authority_sources,
        policy_revision: Digest::of_bytes(b""),
        catalog_digest: Digest::of_bytes(b""),
    };
    // A view is made of a verified grant alone; this one goes nowhere.
    let key = SealKey::new([0; 32]);
    SealedGrant::seal(grant, &key).ok()?.verify(&key).ok()
}

/// An event that every route lets in.
fn event() -> Event {
    Event {
        id: Ulid::nil(),
        source: String::new(),
        connector: None,
        account_role: None,
        event_type: String::new(),
        received_at: Timestamp::UNIX_EPOCH,
        verified_source: true,
        verification_method: VerificationMethod::None,
        replay_protected: false,
        replay_nonce: None,
        channel_account: String::new(),
        raw_event_ref: RawEventRef {
            digest: Digest::of_bytes(b""),
            schema_version: 1,
        },
        actor_hint: ActorHint::default(),
        target_refs: Vec::new(),
        data_classification: DataClassification::Public,
        user_intent_hint: None,
        lane: Lane::Internal,
        trust_context: TrustContext {
            channel_trust: ChannelTrust::Unknown,
            interaction_mode: InteractionMode::SystemHook,
        },
        thread_id: None,
        schema_version: 1,
    }
}

fn identity() -> Identity {
    Identity {
        event_id: Ulid::nil(),
        matched_identity_id: None,
        principal_id: None,
        confidence: 1.0,
        matched_identifier_type: IdentifierType::None,
        channel_trust: ChannelTrust::Unknown,
        source_verified: true,
        authority_warning: None,
        schema_version: 1,
    }
}

#[cfg(test)]
mod tests;
