//! What the gate's tests share: the smallest grant and tool, and verdicts that can be compared.

#![allow(dead_code)] // each test uses its own part of it

pub mod manifests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use actum::authority::Limits;
use actum::gate::{DenialReason, Evidence, Request, Verdict, gate};
use actum::grant::{Attenuation, GrantMode, Principal, SealKey, SealedGrant};
use actum::{ActionCatalog, ActionId, Digest, TaskGrant, VerifiedGrant};
use jiff::Timestamp;
use ulid::Ulid;

const KEY: SealKey = SealKey::new([7; 32]);

/// The id; a text that is none is a mistake in the test.
pub fn id(text: &str) -> ActionId {
    ActionId::parse(text).unwrap()
}

/// The instant so many seconds after the epoch.
pub fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// A live grant with nothing in it that ends at this instant.
pub fn nothing_until(expires_at: Timestamp) -> TaskGrant {
    TaskGrant {
        id: Ulid(1),
        task_id: Ulid(2),
        event_id: Ulid(3),
        principal: Principal::Anonymous("visitor".into()),
        purpose: "Test.".into(),
        allowed_actions: BTreeSet::new(),
        approval_required_actions: BTreeSet::new(),
        denied_actions: BTreeSet::new(),
        allowed_egress_classes: BTreeSet::new(),
        output_channels: BTreeSet::new(),
        bound_arguments: Vec::new(),
        mandate: None,
        selection_tokens: BTreeMap::new(),
        limits: Limits {
            max_model_calls: 1,
            max_artifacts: 1,
            max_runtime_seconds: 3600,
        },
        mode: GrantMode::Live,
        reply_to: None,
        issued_at: Timestamp::UNIX_EPOCH,
        expires_at,
        authority_sources: vec![],
        policy_revision: Digest::of_bytes(b"policy"),
        catalog_digest: Digest::of_bytes(b"catalog"),
    }
}

/// The grant after the whole way that a grant takes: sealed, attenuated step by step, verified.
pub fn verified(grant: TaskGrant, steps: impl IntoIterator<Item = Attenuation>) -> VerifiedGrant {
    steps
        .into_iter()
        .fold(SealedGrant::seal(grant, &KEY).unwrap(), |sealed, step| {
            sealed.attenuate(step).unwrap()
        })
        .verify(&KEY)
        .unwrap()
}

/// A verdict without its permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Allow,
    Ask,
    Suppressed,
    Deny(DenialReason),
}

/// What the gate says. A permit, or a wish for approval, must be for the very action asked for.
pub fn decide(
    grant: &VerifiedGrant,
    request: &Arc<Request>,
    catalog: &ActionCatalog,
    evidence: Evidence<'_>,
    now: Timestamp,
) -> Outcome {
    match gate(grant, request, catalog, evidence, now) {
        Verdict::Allow(permit) => {
            assert_eq!(permit.action().as_str(), request.action);
            assert!(std::ptr::eq(permit.request(), Arc::as_ptr(request)));
            Outcome::Allow
        }
        Verdict::ApprovalRequired(action) => {
            assert_eq!(action.as_str(), request.action);
            Outcome::Ask
        }
        Verdict::EffectSuppressed => Outcome::Suppressed,
        Verdict::Deny(reason) => Outcome::Deny(reason),
    }
}
