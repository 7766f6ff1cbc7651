//! The gate: the one function that decides whether a call may run.
//!
//! It is pure and total: a function of the grant, the request, the catalog, the evidence that the
//! store holds, and the time it is given. Checks run in one order and stop at the first refusal;
//! whatever is missing is a refusal. The order, for a worker's call:
//!
//! 1. caveats that contradict each other, or that nobody can judge: `caveat_widening`
//! 2. expiry: `grant_expired`
//! 3. known: `unknown_action`
//! 4. explicit deny: `explicit_deny`
//! 5. an egress declaration at all: `caveat_widening`
//! 6. egress class: `egress_class_not_granted`
//! 7. output channels: `output_channel_not_granted`
//! 8. bound arguments: `caveat_widening`
//! 9. origin: `kernel_origin_not_trusted`, or allowed
//! 10. selection token: `selection_token_invalid`
//! 11. approval: `approval_required`, `approval_expired`, `approval_missing`,
//!     `approval_digest_mismatch`, or allowed
//! 12. granted: allowed, else `not_granted`
//!
//! The seal comes before all of this, in [`SealedGrant::verify`](crate::grant::SealedGrant::verify):
//! without it there is no [`VerifiedGrant`] to ask with. What comes after, the arguments' schema, is
//! [`Registry::admit`](crate::registry::Registry::admit).

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ulid::Ulid;

use crate::bound::narrowed;
use crate::catalog::{ActionCatalog, Entry};
use crate::digest::Digest;
use crate::grant::{GrantMode, Listed, VerifiedGrant};
use crate::id::ActionId;

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A worker, by any door.
    Worker,
    /// The kernel itself.
    Kernel,
}

/// One call, as it was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The id asked for. Any text: what does not exist is refused, not unparsable.
    pub action: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// Digest of the arguments' canonical JSON, that an approval is bound to.
    pub payload_digest: Option<Digest>,
    /// Digest of the target, that an approval is bound to.
    pub target_digest: Option<Digest>,
    /// The selection token presented.
    pub selection_token: Option<Ulid>,
    /// Who asks.
    pub origin: Origin,
}

/// What the store holds for a request: facts that only the kernel can have written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Evidence<'a> {
    /// The owner's decision on exactly this request.
    pub approval: Option<&'a Approval>,
    /// The stored selection token that the request names, unspent.
    pub selection_token: Option<&'a SelectionToken>,
}

/// The owner's decision on a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// What was decided.
    pub decision: Decision,
    /// The decision is void from this instant on.
    pub expires_at: Timestamp,
    /// The arguments that the owner saw.
    pub payload_digest: Digest,
    /// The target that the owner saw.
    pub target_digest: Digest,
}

/// What an owner decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It may run.
    Approved,
    /// It may not.
    Rejected,
    /// It may not; another request took its place.
    Edited,
}

/// A stored selection token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectionToken {
    /// Its id.
    pub id: Ulid,
    /// Its type.
    #[serde(rename = "type")]
    pub token_type: String,
    /// Void from this instant on.
    pub expires_at: Timestamp,
}

/// Why the gate refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DenialReason {
    /// Nothing grants it.
    NotGranted,
    /// It stands in the grant's denied actions.
    ExplicitDeny,
    /// The grant is over.
    GrantExpired,
    /// The owner did not approve it.
    ApprovalMissing,
    /// The owner approved something else.
    ApprovalDigestMismatch,
    /// The owner's approval is over.
    ApprovalExpired,
    /// No selection token, or not one for this, or no longer.
    SelectionTokenInvalid,
    /// The kernel may not originate it.
    KernelOriginNotTrusted,
    /// It does not exist.
    UnknownAction,
    /// It would go beyond what a caveat or its own declaration leaves.
    CaveatWidening,
    /// It causes outside traffic of a class that the grant has not.
    EgressClassNotGranted,
    /// It writes to an output channel that the grant has not.
    OutputChannelNotGranted,
}

impl DenialReason {
    /// The reason as it is written on the wire and in the ledger.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotGranted => "not_granted",
            Self::ExplicitDeny => "explicit_deny",
            Self::GrantExpired => "grant_expired",
            Self::ApprovalMissing => "approval_missing",
            Self::ApprovalDigestMismatch => "approval_digest_mismatch",
            Self::ApprovalExpired => "approval_expired",
            Self::SelectionTokenInvalid => "selection_token_invalid",
            Self::KernelOriginNotTrusted => "kernel_origin_not_trusted",
            Self::UnknownAction => "unknown_action",
            Self::CaveatWidening => "caveat_widening",
            Self::EgressClassNotGranted => "egress_class_not_granted",
            Self::OutputChannelNotGranted => "output_channel_not_granted",
        }
    }
}

/// What the gate decided.
#[derive(Debug)]
pub enum Verdict {
    /// It may run.
    Allow(Permit),
    /// It may run once the owner approves exactly this request.
    ApprovalRequired(ActionId),
    /// It would be allowed, and the grant's effects are not real.
    EffectSuppressed,
    /// It may not run.
    Deny(DenialReason),
}

/// Leave to run one request. INVARIANT: only [`gate`] makes one, it cannot be copied, and it holds
/// the very request that was judged.
#[derive(Debug)]
pub struct Permit {
    action: ActionId,
    request: Arc<Request>,
}

impl Permit {
    /// The action.
    #[must_use]
    pub fn action(&self) -> &ActionId {
        &self.action
    }

    /// The request that was judged.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }
}

/// Decides a request.
#[must_use]
pub fn gate(
    grant: &VerifiedGrant,
    request: &Arc<Request>,
    catalog: &ActionCatalog,
    evidence: Evidence<'_>,
    now: Timestamp,
) -> Verdict {
    let verdict = match decide(grant, request, catalog, evidence, now) {
        Ok(Leave::Run(action)) => Verdict::Allow(Permit {
            action: action.clone(),
            request: Arc::clone(request),
        }),
        Ok(Leave::Ask(action)) => Verdict::ApprovalRequired(action.clone()),
        Err(reason) => return Verdict::Deny(reason),
    };
    match grant.root().mode {
        GrantMode::Live => verdict,
        GrantMode::Shadow => Verdict::EffectSuppressed,
    }
}

/// What is left of a request that nothing refuses.
enum Leave<'a> {
    Run(&'a ActionId),
    Ask(&'a ActionId),
}

fn decide<'a>(
    grant: &VerifiedGrant,
    request: &Request,
    catalog: &'a ActionCatalog,
    evidence: Evidence<'_>,
    now: Timestamp,
) -> Result<Leave<'a>, DenialReason> {
    if grant.is_contradictory() {
        return Err(DenialReason::CaveatWidening);
    }
    if now >= grant.expires_at() {
        return Err(DenialReason::GrantExpired);
    }
    let (id, entry) = catalog
        .entry(&request.action)
        .ok_or(DenialReason::UnknownAction)?;
    let listed = grant.listed(id.as_str());
    if request.origin == Origin::Worker && listed == Some(Listed::Denied) {
        return Err(DenialReason::ExplicitDeny);
    }
    reach(grant, entry)?;
    let bound = |(name, value): (&String, &String)| {
        takes(entry, name)
            && matches!(request.arguments.get(name), Some(Value::String(given)) if given == value)
    };
    let bounds = grant.bounds_of(id.as_str());
    if !grant.bound_parameters().iter().all(bound)
        || !bounds.iter().all(|bound| bound.holds(&request.arguments))
    {
        return Err(DenialReason::CaveatWidening);
    }
    if request.origin == Origin::Kernel {
        return match entry.kernel_origin {
            true => Ok(Leave::Run(id)),
            false => Err(DenialReason::KernelOriginNotTrusted),
        };
    }
    if let Some(token_type) = &entry.selection_token_type {
        check_selection(grant, request, token_type, evidence.selection_token, now)?;
    }
    match call_for(listed, entry) {
        Some(Standing::ApprovalRequired) => match evidence.approval {
            None => Ok(Leave::Ask(id)),
            Some(approval) => check_approval(request, approval, now).map(|()| Leave::Run(id)),
        },
        Some(Standing::Allowed) => Ok(Leave::Run(id)),
        None => Err(DenialReason::NotGranted),
    }
}

/// Whether the grant reaches what the action touches outside.
fn reach(grant: &VerifiedGrant, entry: &Entry) -> Result<(), DenialReason> {
    let egress = entry.egress.as_ref().ok_or(DenialReason::CaveatWidening)?;
    if egress
        .egress_class
        .as_ref()
        .is_some_and(|class| !grant.has_class(class))
    {
        return Err(DenialReason::EgressClassNotGranted);
    }
    let out_of_reach = |channels: &std::collections::BTreeSet<String>| {
        channels.is_empty() || !channels.iter().all(|channel| grant.has_channel(channel))
    };
    if egress.output_channels.as_ref().is_some_and(out_of_reach) {
        return Err(DenialReason::OutputChannelNotGranted);
    }
    Ok(())
}

/// Whether an action takes an argument of this name; unknown, and so left to the other checks,
/// where there is no descriptor. An argument that it does not take cannot be held to a text.
fn takes(entry: &Entry, name: &str) -> bool {
    entry.tool.as_ref().is_none_or(|tool| {
        tool.descriptor
            .parameters_schema
            .get("properties")
            .is_some_and(|all| all.get(name).is_some())
    })
}

fn check_selection(
    grant: &VerifiedGrant,
    request: &Request,
    token_type: &str,
    stored: Option<&SelectionToken>,
    now: Timestamp,
) -> Result<(), DenialReason> {
    let valid = request.selection_token.is_some_and(|presented| {
        let held = grant.selection_tokens().get(&presented);
        held.is_some_and(|held_as| held_as == token_type)
            && stored.is_some_and(|token| {
                token.id == presented && token.token_type == token_type && now < token.expires_at
            })
    });
    if valid {
        Ok(())
    } else {
        Err(DenialReason::SelectionTokenInvalid)
    }
}

fn check_approval(
    request: &Request,
    approval: &Approval,
    now: Timestamp,
) -> Result<(), DenialReason> {
    if now >= approval.expires_at {
        return Err(DenialReason::ApprovalExpired);
    }
    if approval.decision != Decision::Approved {
        return Err(DenialReason::ApprovalMissing);
    }
    if request.payload_digest != Some(approval.payload_digest)
        || request.target_digest != Some(approval.target_digest)
    {
        return Err(DenialReason::ApprovalDigestMismatch);
    }
    Ok(())
}

/// How an action stands in a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It may be called.
    Allowed,
    /// It may be called once the owner approves.
    ApprovalRequired,
}

/// What the grant's list says; an action that always asks, asks.
fn call_for(listed: Option<Listed>, entry: &Entry) -> Option<Standing> {
    let always_asks = || {
        let tool = entry.tool.as_ref();
        tool.is_some_and(|tool| tool.descriptor.approval_required)
    };
    match listed? {
        Listed::Denied => None,
        Listed::Allowed if !always_asks() => Some(Standing::Allowed),
        Listed::Allowed | Listed::ApprovalRequired => Some(Standing::ApprovalRequired),
    }
}

/// How an action stands in a grant for some call of it; `None` when no call of it could pass.
///
/// This is the gate's own judgement, made without arguments, evidence and time: what it exposes
/// and what [`gate`] lets through are the same set.
#[must_use]
pub fn exposure(grant: &VerifiedGrant, catalog: &ActionCatalog, id: &str) -> Option<Standing> {
    let (id, entry) = catalog.entry(id)?;
    let standing = exposed(grant, grant.listed(id.as_str()), entry)?;
    if let (bounds @ [_, ..], Some(tool)) = (grant.bounds_of(id.as_str()), &entry.tool) {
        narrowed(&tool.descriptor, bounds)?;
    }
    Some(standing)
}

/// [`exposure`] of an action that was looked up already, on both sides. What its arguments are bound to
/// is left to the caller: a view narrows the tool's schema by it anyway.
pub(crate) fn exposed(
    grant: &VerifiedGrant,
    listed: Option<Listed>,
    entry: &Entry,
) -> Option<Standing> {
    if grant.is_contradictory() || entry.undispatchable {
        return None;
    }
    reach(grant, entry).ok()?;
    entry.tool.as_ref()?;
    if !grant
        .bound_parameters()
        .keys()
        .all(|name| takes(entry, name))
    {
        return None;
    }
    if let Some(token_type) = &entry.selection_token_type {
        grant
            .selection_tokens()
            .values()
            .find(|held| *held == token_type)?;
    }
    call_for(listed, entry)
}
