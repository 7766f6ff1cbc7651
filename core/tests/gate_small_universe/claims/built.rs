//! A combination as manifests, a catalog and a request.

use std::collections::BTreeSet;
use std::sync::Arc;

use actum::authority::Listed;
use actum::gate::{Approval, Decision, Evidence, Origin, Request, SelectionToken};
use actum::requirement::EscapeHatch;
use actum::{
    ActionCatalog, Digest, EgressDeclaration, Hints, Requirements, TaskGrant, ToolDescriptor,
    VerifiedGrant,
};
use jiff::Timestamp;
use serde_json::json;
use ulid::Ulid;

use super::case::{Beside, Claim, List, Required, Scene, Wanted, With, Words};
use crate::case::FLAGS;
use crate::support::manifests::{Manifests, listed, located, manifest};
use crate::support::{Outcome, at, decide, id};

const TOKEN: Ulid = Ulid(7);
const TOKEN_TYPE: &str = "thread";

/// The action's name in every half.
const X: &str = "x";

const fn text(claim: Claim) -> &'static str {
    match claim {
        Claim::OfActor => "of:actor",
        Claim::OfScenario => "of:scenario",
        Claim::OfNobody => "of:nobody",
        Claim::DeniedThere => "denied:there",
        Claim::DeniedEverywhere => "denied:everywhere",
    }
}

/// The manifests that put the action in this list, and say this of the scenario.
pub fn manifests(list: List, scene: Scene) -> Manifests {
    let mut all = Manifests::new();
    let only_x = |put: bool| -> Vec<Listed> { put.then(|| listed(X)).into_iter().collect() };
    let texts = |claims: &[Claim]| {
        claims
            .iter()
            .map(|claim| located(text(*claim).into()))
            .collect()
    };
    all.pack.candidate_allowed_actions = only_x(list == List::Allow);
    all.pack.approval_required = only_x(list == List::Approval);
    all.pack.denied_actions = only_x(list == List::Deny);
    all.policy.denied_claims = texts(&[Claim::DeniedEverywhere]);
    all.scenario.claims = texts(&[Claim::OfScenario, Claim::DeniedEverywhere]);
    all.scenario.denied_claims = texts(&[Claim::DeniedThere]);
    all.scenario.denied_actions = only_x(scene.denies_action);
    all.scenario.secret_values = scene.secret_values;
    let target = || located(manifest(&json!({"method": "GET", "path": "/v1/tasks"})));
    all.scenario.api_targets = scene.api_target.then(target).into_iter().collect();
    let kind = || located("confirm".to_owned());
    all.scenario.interaction_kinds = scene.interaction_kind.then(kind).into_iter().collect();
    match &mut all.actor {
        Some(actor) if scene.is_actor => {
            actor.roles = vec![located(" Board ".to_owned())];
            actor.claims = texts(&[Claim::OfActor, Claim::DeniedThere]);
        }
        actor => *actor = None,
    }
    all
}

/// The grant, with the one token that may be spent.
pub fn with_token(grant: TaskGrant) -> TaskGrant {
    TaskGrant {
        selection_tokens: [(TOKEN, TOKEN_TYPE.to_owned())].into(),
        ..grant
    }
}

/// The catalog of the action, before it requires anything.
pub fn catalog(beside: Beside) -> ActionCatalog {
    let is_asked = beside == Beside::SelectionToken;
    let tool = ToolDescriptor {
        name: X.into(),
        description: "Does.".into(),
        parameters_schema: json!({
            "type": "object",
            "properties": {
                "method": {"type": "string"},
                "path": {"type": "string"},
                "kind": {"type": "string", "enum": ["confirm", "choose"]},
            },
            "required": ["kind", "method", "path"],
            "additionalProperties": false,
        }),
        approval_required: false,
        selection_token_required: is_asked,
        idempotency_key_required: false,
        title: None,
        output_schema: None,
        hints: Hints::NONE,
    };
    let channels = |name: &str| Some([name.to_owned()].into());
    let egress = EgressDeclaration {
        egress_class: (beside == Beside::ForeignClass).then(|| "foreign".to_owned()),
        output_channels: match beside {
            Beside::ForeignChannel => channels("foreign"),
            _ => channels("granted"),
        },
    };
    let declared = (beside != Beside::NoEgressDeclaration).then(|| (id(X), egress));
    let token = is_asked.then(|| (id(X), TOKEN_TYPE.to_owned()));
    ActionCatalog::new([id(X)])
        .with_tool_descriptors([(id(X), tool)].into())
        .with_egress_declarations(declared.into_iter().collect())
        .with_selection_token_types(token.into_iter().collect())
}

impl Required {
    /// The catalog in which the action requires this.
    pub fn of(&self, catalog: &ActionCatalog) -> ActionCatalog {
        let only = |wanted: Wanted, ours: &str, other: &str| -> BTreeSet<String> {
            match wanted {
                Wanted::Any => BTreeSet::new(),
                Wanted::Ours => [ours.to_owned()].into(),
                Wanted::Another => [other.to_owned()].into(),
            }
        };
        let requirements = Requirements {
            class: self.class,
            claims: self
                .claims
                .iter()
                .map(|claim| text(*claim).to_owned())
                .collect(),
            roles: only(self.role, "board", "admin"),
            modes: only(self.mode, "standard", "planning"),
            reads_secrets: self.reads_secrets,
            escape_hatch: self.escape_hatch.then(|| EscapeHatch {
                method: "method".to_owned(),
                path: "path".to_owned(),
            }),
            interaction: self.interaction.then(|| "kind".to_owned()),
        };
        catalog
            .clone()
            .with_requirements([(id(X), requirements)].into())
    }
}

/// Every call that comes with one of these.
pub fn all_calls(with: &[With]) -> Vec<Call> {
    let mut all = Vec::new();
    for on_target in FLAGS {
        for of_kind in FLAGS {
            all.extend(with.iter().map(|with| {
                Call::new(Words {
                    on_target,
                    of_kind,
                    with: *with,
                })
            }));
        }
    }
    all
}

/// A call, and what the store holds for it.
pub struct Call {
    pub words: Words,
    request: Arc<Request>,
    approval: Option<Approval>,
    token: Option<SelectionToken>,
    at: Timestamp,
}

impl Call {
    fn new(words: Words) -> Self {
        let Words {
            on_target,
            of_kind,
            with,
        } = words;
        let digest = Digest::of_bytes(b"seen");
        let method = if on_target { "GET" } else { "POST" };
        let kind = if of_kind { "confirm" } else { "choose" };
        let arguments = json!({"method": method, "path": "/v1/tasks", "kind": kind});
        let has_token = matches!(with, With::Token | With::TokenAndApproval);
        let decision = match with {
            With::Approval | With::TokenAndApproval => Some(Decision::Approved),
            With::Rejection => Some(Decision::Rejected),
            With::Nothing | With::TooLate | With::Token => None,
        };
        Self {
            words,
            request: Arc::new(Request {
                action: X.to_owned(),
                arguments: arguments.as_object().cloned().unwrap_or_default(),
                payload_digest: Some(digest),
                target_digest: Some(digest),
                selection_token: has_token.then_some(TOKEN),
                origin: Origin::Worker,
            }),
            approval: decision.map(|decision| Approval {
                decision,
                expires_at: at(3600),
                payload_digest: digest,
                target_digest: digest,
            }),
            token: has_token.then(|| SelectionToken {
                id: TOKEN,
                token_type: TOKEN_TYPE.to_owned(),
                expires_at: at(3600),
            }),
            at: at(if with == With::TooLate { 3600 } else { 3599 }),
        }
    }

    pub fn outcome(&self, grant: &VerifiedGrant, catalog: &ActionCatalog) -> Outcome {
        let evidence = Evidence {
            approval: self.approval.as_ref(),
            selection_token: self.token.as_ref(),
        };
        decide(grant, &self.request, catalog, evidence, self.at)
    }
}
