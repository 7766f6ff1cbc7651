//! The manifests of one event, small and owned, so that a test can change one thing of them.

use actum::authority::document::{Decode, Located, decode_json};
use actum::authority::{
    Actor, AgentManifest, CapabilityPack, ClaimsInput, ComposeError, ComposeInput, Composition,
    Event, Identity, Listed, Policy, Route, Scenario, SessionPolicy, WorkflowManifest, compose,
};
use actum::{ActionCatalog, TaskGrant};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{at, nothing_until};

/// Everything that is composed.
#[derive(Debug, Clone)]
pub struct Manifests {
    pub event: Event,
    pub identity: Identity,
    pub route: Route,
    pub agent: AgentManifest,
    pub workflow: WorkflowManifest,
    pub pack: CapabilityPack,
    pub policy: Policy,
    pub session: SessionPolicy,
    pub scenario: Scenario,
    /// `None` where the sender is no actor.
    pub actor: Option<Actor>,
}

/// A manifest that must be right.
pub fn manifest<T: Decode>(value: &Value) -> T {
    decode_json(value).unwrap_or_else(|faults| panic!("{faults}\n{value}"))
}

/// A text that stands in no file.
pub fn located<T>(value: T) -> Located<T> {
    Located {
        value,
        position: None,
    }
}

/// An id that stands in no file.
pub fn listed(id: &str) -> Listed {
    Listed {
        id: id.to_owned(),
        position: None,
    }
}

impl Manifests {
    /// Manifests that list nothing, an actor that holds nothing, in the mode `standard` of a scenario
    /// that switches nothing on. The agent writes to `granted`, and the pack lets out `granted`.
    pub fn new() -> Self {
        let named = |id: &str| json!({"id": id, "schema_version": 1, "lifecycle_state": "active"});
        let with = |id: &str, more: Value| {
            let mut all = named(id);
            let (into, Value::Object(more)) = (all.as_object_mut().unwrap(), more) else {
                panic!("an object adds to an object");
            };
            into.extend(more);
            all
        };
        Self {
            event: serde_json::from_value(event()).unwrap(),
            identity: serde_json::from_value(identity()).unwrap(),
            route: manifest(&with(
                "owner",
                json!({"agent": "helper", "workflow": "talk", "capability_pack": "basic"}),
            )),
            agent: manifest(&with("helper", agent())),
            workflow: manifest(&with(
                "talk",
                json!({
                    "purpose": "Talk.", "required_agent": "helper",
                    "required_capability_pack": "basic",
                }),
            )),
            pack: manifest(&with(
                "basic",
                json!({"allowed_egress_classes": ["granted"]}),
            )),
            policy: manifest(&named("global")),
            session: SessionPolicy::default(),
            scenario: manifest(&with("desk", json!({"mode": "standard"}))),
            actor: Some(manifest(&with("ada", json!({"principal_id": "owner"})))),
        }
    }

    /// Every action list, by manifest and then allow, approval, deny.
    pub fn lists(&mut self) -> [&mut Vec<Listed>; 15] {
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
            &mut self.policy.candidate_allowed_actions,
            &mut self.policy.approval_required,
            &mut self.policy.denied_actions,
            &mut self.session.candidate_allowed_actions,
            &mut self.session.approval_required,
            &mut self.session.denied_actions,
        ]
    }

    /// Composes them, by lists and by claims.
    pub fn compose(&self, catalog: &ActionCatalog) -> Result<Composition, ComposeError> {
        let offered = |mandate: &_| catalog.offered_to(mandate);
        compose(&ComposeInput {
            event: &self.event,
            identity: &self.identity,
            route: &self.route,
            agent: &self.agent,
            workflow: &self.workflow,
            pack: &self.pack,
            global_policy: &self.policy,
            session: &self.session,
            claims: Some(ClaimsInput {
                scenario: &self.scenario,
                actor: self.actor.as_ref(),
                offered: &offered,
            }),
            known: &|id| catalog.is_known(id),
            now: Timestamp::UNIX_EPOCH,
        })
    }
}

/// The grant that a composition is issued as. It holds no selection token, and ends after an hour.
pub fn issued(composition: Composition) -> TaskGrant {
    TaskGrant {
        allowed_actions: composition.allowed_actions,
        approval_required_actions: composition.approval_required_actions,
        denied_actions: composition.denied_actions,
        allowed_egress_classes: composition.egress_classes,
        output_channels: composition.output_channels,
        bound_arguments: composition.bound_arguments,
        mandate: composition.mandate,
        ..nothing_until(at(3600))
    }
}

fn event() -> Value {
    json!({
        "id": "01JZZZZZZZZZZZZZZZZZZZZZZZ",
        "source": "telegram",
        "connector": "telegram_owner_bot",
        "event_type": "telegram.owner.message",
        "received_at": "1970-01-01T00:00:00Z",
        "verified_source": true,
        "verification_method": "telegram_owner_id_match",
        "replay_protected": true,
        "channel_account": "bot",
        "raw_event_ref": {"digest": format!("sha256:{}", "a".repeat(64)), "schema_version": 1},
        "actor_hint": {"channel_user_id": "42"},
        "data_classification": "private",
        "lane": "owner_control",
        "trust_context": {
            "channel_trust": "verified_owner_channel", "interaction_mode": "owner_message"
        },
        "schema_version": 1,
    })
}

fn identity() -> Value {
    json!({
        "event_id": "01JZZZZZZZZZZZZZZZZZZZZZZZ",
        "confidence": 1.0,
        "matched_identifier_type": "telegram_user_id",
        "channel_trust": "verified_owner_channel",
        "source_verified": true,
        "schema_version": 1,
    })
}

fn agent() -> Value {
    json!({
        "purpose": "Help.",
        "persistence": "ephemeral",
        "persona": "plain",
        "model_policy": {
            "allowed_providers": ["local"],
            "private_context_requires_gateway": true,
            "max_model_calls_per_task": 3,
        },
        "limits": {"max_runtime_seconds": 3600, "max_artifacts": 2, "max_tokens": 1000},
        "output_channels": {"allowed": ["granted"]},
    })
}
