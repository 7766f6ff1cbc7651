//! One decision of the gate, against Cedar's on an equal policy: the same principal, the same twenty
//! actions that are each permitted or forbidden, the same requests.
//!
//! `cargo bench --manifest-path bench/Cargo.toml --bench gate`
//!
//! Cedar knows permit and forbid and nothing in between, so its side of "approval required" is the
//! same permit as that of "allowed". Both sides get requests that are parsed already, and policies
//! that are loaded already: the gate a grant whose seal was checked, Cedar a policy set.
#![allow(
    clippy::unwrap_used,
    reason = "a benchmark whose set-up fails has nothing to measure"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use actum::authority::Limits;
use actum::gate::{DenialReason, Evidence, Origin, Request, Verdict, gate};
use actum::grant::{GrantMode, Principal, SealKey};
use actum::{
    ActionCatalog, ActionId, Digest, EgressDeclaration, Hints, SealedGrant, TaskGrant,
    ToolDescriptor, ToolName, VerifiedGrant,
};
use actum_bench::{Aim, head, pair, row};
use cedar_policy::{Authorizer, Context, Decision, Entities, EntityUid, PolicySet};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, json};
use ulid::Ulid;

/// Actions that exist; the grant speaks of the first twenty.
const KNOWN: usize = 1_000;
const ALLOWED: std::ops::Range<usize> = 0..14;
const ASKED: std::ops::Range<usize> = 14..17;
const DENIED: std::ops::Range<usize> = 17..20;

fn main() {
    let (catalog, grant, now) = (catalog(), grant(), Timestamp::now());
    let (authorizer, policies, entities) = (Authorizer::new(), policies(), Entities::empty());
    head(
        "gate() against Cedar's is_authorized(), on an equal policy of 20 actions",
        "ns",
        "Cedar, ns",
    );
    let cases = [
        ("allowed", id(7).to_string(), Outcome::Allow),
        (
            "denied: unknown",
            "board.no_such_action".to_owned(),
            Outcome::Deny(DenialReason::UnknownAction),
        ),
        (
            "denied: explicitly",
            id(18).to_string(),
            Outcome::Deny(DenialReason::ExplicitDeny),
        ),
        (
            "denied: not granted",
            id(500).to_string(),
            Outcome::Deny(DenialReason::NotGranted),
        ),
        ("approval required", id(15).to_string(), Outcome::Ask),
    ];
    for (name, action, expected) in cases {
        let request = Arc::new(Request {
            action: action.clone(),
            arguments: Map::new(),
            payload_digest: None,
            target_digest: None,
            selection_token: None,
            origin: Origin::Worker,
        });
        let ours = || gate(&grant, &request, &catalog, Evidence::default(), now);
        let asked = cedar_request(&action);
        let theirs = || authorizer.is_authorized(&asked, &policies, &entities);

        assert_eq!(Outcome::of(&ours()), expected);
        let permitted = theirs().decision() == Decision::Allow;
        assert_eq!(permitted, !matches!(expected, Outcome::Deny(_)), "{name}");
        row(name, &pair(ours, theirs), Aim::AtMost(0.1));
    }
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Allow,
    Ask,
    Deny(DenialReason),
}

impl Outcome {
    fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Allow(_) | Verdict::EffectSuppressed => Self::Allow,
            Verdict::ApprovalRequired(_) => Self::Ask,
            Verdict::Deny(reason) => Self::Deny(*reason),
        }
    }
}

fn id(number: usize) -> ActionId {
    ActionId::parse(&format!("board.change_card_{number:03}")).unwrap()
}

fn catalog() -> ActionCatalog {
    let ids: Vec<ActionId> = (0..KNOWN).map(id).collect();
    let descriptor = |id: &ActionId| ToolDescriptor {
        name: ToolName::of(id).as_str().to_owned(),
        description: "Change a card of the board.".to_owned(),
        parameters_schema: json!({"type": "object", "properties": {}}),
        approval_required: false,
        selection_token_required: false,
        idempotency_key_required: false,
        title: None,
        output_schema: None,
        hints: Hints::NONE,
    };
    ActionCatalog::new(ids.iter().cloned())
        .with_tool_descriptors(ids.iter().map(|id| (id.clone(), descriptor(id))).collect())
        .with_egress_declarations(
            ids.iter()
                .map(|id| (id.clone(), EgressDeclaration::default()))
                .collect(),
        )
}

fn grant() -> VerifiedGrant {
    let now = Timestamp::now();
    let key = SealKey::new([7; 32]);
    let grant = TaskGrant {
        id: Ulid(1),
        task_id: Ulid(1),
        event_id: Ulid(2),
        principal: Principal::Known("owner".to_owned()),
        purpose: "Keep the board in order.".to_owned(),
        allowed_actions: ALLOWED.map(id).collect(),
        approval_required_actions: ASKED.map(id).collect(),
        denied_actions: DENIED.map(id).collect(),
        allowed_egress_classes: BTreeSet::new(),
        output_channels: BTreeSet::new(),
        bound_arguments: Vec::new(),
        mandate: None,
        selection_tokens: BTreeMap::new(),
        limits: Limits {
            max_model_calls: 8,
            max_artifacts: 20,
            max_runtime_seconds: 3600,
        },
        mode: GrantMode::Live,
        reply_to: None,
        issued_at: now,
        expires_at: now + SignedDuration::from_hours(1),
        authority_sources: Vec::new(),
        policy_revision: Digest::of_bytes(b""),
        catalog_digest: Digest::of_bytes(b""),
    };
    SealedGrant::seal(grant, &key)
        .unwrap()
        .verify(&key)
        .unwrap()
}

fn policies() -> PolicySet {
    let mut text = String::new();
    for (effect, range) in [("permit", ALLOWED), ("permit", ASKED), ("forbid", DENIED)] {
        for id in range.map(id) {
            writeln!(
                text,
                r#"{effect}(principal == Task::"1", action == Action::"{id}", resource == Board::"team");"#
            )
            .unwrap();
        }
    }
    text.parse().unwrap()
}

fn cedar_request(action: &str) -> cedar_policy::Request {
    let uid = |text: &str| text.parse::<EntityUid>().unwrap();
    cedar_policy::Request::new(
        uid(r#"Task::"1""#),
        uid(&format!(r#"Action::"{action}""#)),
        uid(r#"Board::"team""#),
        Context::empty(),
        None,
    )
    .unwrap()
}
