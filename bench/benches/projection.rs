//! Projecting a grant and serializing its view, against a copy of the same bytes.
//!
//! `cargo bench --manifest-path bench/Cargo.toml --bench projection`
#![allow(
    clippy::unwrap_used,
    reason = "a benchmark whose set-up fails has nothing to measure"
)]

use std::collections::{BTreeMap, BTreeSet};

use actum::authority::Limits;
use actum::grant::{GrantMode, Principal, SealKey};
use actum::{
    ActionCatalog, ActionId, Digest, EgressDeclaration, Hints, SealedGrant, TaskGrant,
    ToolDescriptor, ToolName, VerifiedGrant, project,
};
use actum_bench::{Aim, head, pair, row};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use ulid::Ulid;

/// Tools of a view, where the catalog has as many.
const VIEW: usize = 20;

fn main() {
    head(
        "project() and write_tools(): a view of 20 tools against a copy of its bytes",
        "ns",
        "copy, ns",
    );
    for actions in [10, 1_000, 100_000] {
        let (catalog, grant) = setting(actions);
        let view = project(&grant, &catalog);
        let mut bytes = String::new();
        view.write_tools(&mut bytes);
        assert_eq!(view.len(), VIEW.min(actions));

        let ours = || {
            let mut out = String::new();
            project(&grant, &catalog).write_tools(&mut out);
            out
        };
        let measured = pair(ours, || bytes.clone());
        let name = format!(
            "{actions} actions, {} tools, {} bytes",
            view.len(),
            bytes.len()
        );
        row(&name, &measured, Aim::AtMost(3.0));
        let measured = pair(|| view.digest(), || bytes.clone());
        row("  digest() of that view", &measured, Aim::None);
    }
}

/// A catalog of so many actions, and a grant that picks its tools from all over it, a few of them
/// with the owner's approval.
fn setting(actions: usize) -> (ActionCatalog, VerifiedGrant) {
    let ids: Vec<ActionId> = (0..actions).map(id).collect();
    let picked: BTreeSet<ActionId> = ids
        .iter()
        .step_by((actions / VIEW).max(1))
        .take(VIEW)
        .cloned()
        .collect();
    let catalog = ActionCatalog::new(ids.iter().cloned())
        .with_tool_descriptors(ids.iter().map(|id| (id.clone(), descriptor(id))).collect())
        .with_egress_declarations(ids.iter().map(|id| (id.clone(), egress())).collect());
    (catalog, grant(picked))
}

fn id(number: usize) -> ActionId {
    let area = ["board", "calendar", "email", "files"]
        .get(number % 4)
        .copied()
        .unwrap_or_default();
    ActionId::parse(&format!("{area}.list_entries_{number:05}:selected")).unwrap()
}

fn egress() -> EgressDeclaration {
    EgressDeclaration {
        egress_class: None,
        output_channels: Some(BTreeSet::from(["owner.reply".to_owned()])),
    }
}

fn descriptor(id: &ActionId) -> ToolDescriptor {
    ToolDescriptor {
        name: ToolName::of(id).as_str().to_owned(),
        description: "List the newest entries of the folder that the owner selected, newest first, without their attachments.".to_owned(),
        parameters_schema: json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "Words that an entry must contain; empty for every entry.",
                    "maxLength": 200
                },
                "newest": {
                    "type": "integer",
                    "description": "How many of the newest entries to return, 1 to 50.",
                    "minimum": 1,
                    "maximum": 50
                },
                "with_archived": {
                    "type": "boolean",
                    "description": "Whether archived entries are included."
                }
            },
            "required": ["query", "newest"],
            "additionalProperties": false
        }),
        approval_required: false,
        selection_token_required: false,
        idempotency_key_required: false,
        title: Some("List entries".to_owned()),
        output_schema: None,
        hints: Hints { read_only: true, ..Hints::NONE },
    }
}

fn grant(picked: BTreeSet<ActionId>) -> VerifiedGrant {
    let (asks, allowed) = picked
        .into_iter()
        .enumerate()
        .partition::<Vec<_>, _>(|(index, _)| index % 5 == 4);
    let ids = |list: Vec<(usize, ActionId)>| list.into_iter().map(|(_, id)| id).collect();
    let now = Timestamp::now();
    let key = SealKey::new([7; 32]);
    let grant = TaskGrant {
        id: Ulid(1),
        task_id: Ulid(1),
        event_id: Ulid(2),
        principal: Principal::Known("owner".to_owned()),
        purpose: "Keep the folders in order.".to_owned(),
        allowed_actions: ids(allowed),
        approval_required_actions: ids(asks),
        denied_actions: BTreeSet::new(),
        allowed_egress_classes: BTreeSet::new(),
        output_channels: BTreeSet::from(["owner.reply".to_owned()]),
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
