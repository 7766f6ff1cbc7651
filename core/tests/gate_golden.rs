//! The gate agrees with every recorded answer of a running system.
//!
//! The cases stand beside the project, in `../shared/data/openspine/golden`; without them this test
//! fails.

#![allow(clippy::unwrap_used, clippy::panic)] // a test says where it fails

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use actum::gate::{Approval, Evidence, Origin, Request, SelectionToken};
use actum::grant::{Attenuation, Caveat, GrantMode};
use actum::id::check_action_id;
use actum::{ActionCatalog, ActionId, Digest, EgressDeclaration, TaskGrant};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use ulid::Ulid;

use support::{Outcome, decide, nothing_until, verified};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    now: Timestamp,
    origin: Origin,
    grant: Grant,
    attenuations: Vec<Vec<Value>>,
    request: CaseRequest,
    approval: Option<Approval>,
    selection_token: Option<SelectionToken>,
    expect: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Grant {
    allowed_actions: Vec<String>,
    approval_required_actions: Vec<String>,
    denied_actions: Vec<String>,
    allowed_egress_classes: BTreeSet<String>,
    output_channels: BTreeSet<String>,
    selection_tokens: Vec<Ulid>,
    expires_at: Timestamp,
    mode: GrantMode,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseRequest {
    action: String,
    params: Map<String, Value>,
    payload_digest: Option<Digest>,
    target_digest: Option<Digest>,
    selection_token_id: Option<Ulid>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseCatalog {
    ids: Vec<ActionId>,
    egress: BTreeMap<ActionId, EgressDeclaration>,
    kernel_origin: BTreeSet<ActionId>,
    token_requiring: BTreeMap<ActionId, String>,
}

fn golden(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/data/openspine/golden")
        .join(name);
    fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; these cases are required", path.display()))
}

/// Text outside the grammar is the id of no action, so it names nothing in a list.
fn is_action_id(text: &str) -> bool {
    check_action_id(text).is_ok()
}

fn ids(texts: &[String]) -> BTreeSet<ActionId> {
    texts
        .iter()
        .filter(|text| is_action_id(text))
        .map(|text| ActionId::parse(text).unwrap())
        .collect()
}

impl Case {
    fn grant(&self) -> TaskGrant {
        // The recorded grants name tokens alone; a grant here also says of which type each is.
        let token_type = |token: &Ulid| match &self.selection_token {
            Some(stored) if stored.id == *token => stored.token_type.clone(),
            _ => "not stored".to_owned(),
        };
        TaskGrant {
            allowed_actions: ids(&self.grant.allowed_actions),
            approval_required_actions: ids(&self.grant.approval_required_actions),
            denied_actions: ids(&self.grant.denied_actions),
            allowed_egress_classes: self.grant.allowed_egress_classes.clone(),
            output_channels: self.grant.output_channels.clone(),
            bound_arguments: Vec::new(),
            mandate: None,
            selection_tokens: self
                .grant
                .selection_tokens
                .iter()
                .map(|token| (*token, token_type(token)))
                .collect(),
            mode: self.grant.mode,
            ..nothing_until(self.grant.expires_at)
        }
    }

    fn steps(&self) -> Vec<Attenuation> {
        let caveat = |recorded: &Value| -> Caveat {
            let mut recorded = recorded.clone();
            if let Some(Value::Array(actions)) = recorded.get_mut("actions") {
                actions.retain(|text| is_action_id(text.as_str().unwrap()));
            }
            serde_json::from_value(recorded).unwrap()
        };
        self.attenuations
            .iter()
            .map(|step| step.iter().map(caveat).collect())
            .collect()
    }

    fn answer(&self, catalog: &ActionCatalog) -> Value {
        let request = Arc::new(Request {
            action: self.request.action.clone(),
            arguments: self.request.params.clone(),
            payload_digest: self.request.payload_digest,
            target_digest: self.request.target_digest,
            selection_token: self.request.selection_token_id,
            origin: self.origin,
        });
        let evidence = Evidence {
            approval: self.approval.as_ref(),
            selection_token: self.selection_token.as_ref(),
        };
        let grant = verified(self.grant(), self.steps());
        match decide(&grant, &request, catalog, evidence, self.now) {
            Outcome::Allow => json!({"outcome": "allow"}),
            Outcome::Ask => {
                json!({"outcome": "approval_required", "approval_type": request.action})
            }
            Outcome::Suppressed => json!({"outcome": "effect_suppressed"}),
            Outcome::Deny(reason) => json!({"outcome": "deny", "reason": reason}),
        }
    }
}

#[test]
fn the_gate_agrees_with_every_recorded_answer() {
    let recorded: CaseCatalog = serde_json::from_str(&golden("gate_catalog.json")).unwrap();
    let catalog = ActionCatalog::new(recorded.ids)
        .with_egress_declarations(recorded.egress)
        .with_kernel_origin(recorded.kernel_origin)
        .with_selection_token_types(recorded.token_requiring);

    let mut cases = 0;
    let mut kinds = BTreeSet::new();
    let mut wrong = Vec::new();
    for (index, line) in golden("gate.jsonl").lines().enumerate() {
        let number = index + 1;
        let case: Case =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("line {number}: {error}"));
        let given = case.answer(&catalog);
        if given != case.expect {
            wrong.push(format!(
                "line {number}: expected {}, given {given}",
                case.expect
            ));
        }
        let part = |name: &str| {
            case.expect
                .get(name)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        kinds.insert((part("outcome"), part("reason")));
        cases += 1;
    }
    assert!(
        wrong.is_empty(),
        "{} of {cases}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(cases > 1500, "only {cases} cases");

    // They reach the three outcomes that are no denial, and twelve reasons to deny.
    assert_eq!(kinds.len(), 3 + 12, "{kinds:?}");
}
