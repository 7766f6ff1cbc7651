//! The gate: the one function that decides whether a call may run.
//!
//! It is pure and total: a function of the grant, the request, the catalog, the evidence that the
//! store holds, and the time it is given. Checks run in one order and stop at the first refusal;
//! whatever is missing is a refusal. The order, for a worker's call:
//!
//! 1. caveats that contradict each other, or that nobody can judge: `caveat_widening`
//! 2. expiry: `grant_expired`
//! 3. the control plane's own: `control_plane_owned_operation`
//! 4. known: `unknown_action`
//! 5. explicit deny: `explicit_deny`
//! 6. an egress declaration at all: `caveat_widening`
//! 7. egress class: `egress_class_not_granted`
//! 8. output channels: `output_channel_not_granted`
//! 9. bound arguments: `caveat_widening`
//! 10. origin: `kernel_origin_not_trusted`, or allowed
//! 11. denied by policy: `operation_denied_by_policy`
//! 12. task mode: `operation_not_available_in_task_mode`
//! 13. role: `actor_role_not_authorized`
//! 14. a claim that policy denies: `required_claim_denied_by_policy`
//! 15. claims: `required_claim_missing`
//! 16. values of secrets: `secret_value_access_disabled`
//! 17. the escape hatch: `generic_escape_hatch_disabled`, `generic_escape_hatch_target_denied`
//! 18. the kind of interaction: `interaction_kind_denied_by_policy`
//! 19. selection token: `selection_token_invalid`
//! 20. approval: `approval_required`, `approval_expired`, `approval_missing`,
//!     `approval_digest_mismatch`, or allowed
//! 21. granted, and not handed on where no grant may hand it on: allowed, else `not_granted`
//!
//! [`exposure`] is the same evaluator without a call: what depends on arguments, evidence or the time
//! is asked of some call instead of this one.
//!
//! The seal comes before all of this, in [`SealedGrant::verify`](crate::grant::SealedGrant::verify):
//! without it there is no [`VerifiedGrant`] to ask with. What comes after, the arguments' schema, is
//! [`Registry::admit`](crate::registry::Registry::admit).

mod requirements;

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
use crate::requirement::Class;

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
    /// It is the control plane's own.
    #[serde(rename = "control_plane_owned_operation")]
    ControlPlaneOwned,
    /// The scenario denies it.
    #[serde(rename = "operation_denied_by_policy")]
    PolicyDenied,
    /// It is not for the task's mode.
    #[serde(rename = "operation_not_available_in_task_mode")]
    TaskMode,
    /// The actor has none of the roles that it is for.
    #[serde(rename = "actor_role_not_authorized")]
    Role,
    /// Policy denies a claim that it requires.
    #[serde(rename = "required_claim_denied_by_policy")]
    ClaimDenied,
    /// A claim that it requires is not held.
    #[serde(rename = "required_claim_missing")]
    ClaimMissing,
    /// It reads values of secrets, which is switched off.
    #[serde(rename = "secret_value_access_disabled")]
    SecretValues,
    /// It is an escape hatch, which is switched off.
    #[serde(rename = "generic_escape_hatch_disabled")]
    EscapeHatch,
    /// It is an escape hatch that may not send this.
    #[serde(rename = "generic_escape_hatch_target_denied")]
    EscapeHatchTarget,
    /// A person may not be turned to in this way.
    #[serde(rename = "interaction_kind_denied_by_policy")]
    InteractionKind,
    /// The task, or one that commissioned it, has made as many calls or proposed as many artifacts as its
    /// grant allows. The store counts, so that the gate never says so.
    LimitReached,
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
            Self::ControlPlaneOwned => "control_plane_owned_operation",
            Self::PolicyDenied => "operation_denied_by_policy",
            Self::TaskMode => "operation_not_available_in_task_mode",
            Self::Role => "actor_role_not_authorized",
            Self::ClaimDenied => "required_claim_denied_by_policy",
            Self::ClaimMissing => "required_claim_missing",
            Self::SecretValues => "secret_value_access_disabled",
            Self::EscapeHatch => "generic_escape_hatch_disabled",
            Self::EscapeHatchTarget => "generic_escape_hatch_target_denied",
            Self::InteractionKind => "interaction_kind_denied_by_policy",
            Self::LimitReached => "limit_reached",
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
    let call = Call {
        request,
        evidence,
        now,
    };
    let verdict = match decide(grant, &call, catalog) {
        Ok((action, Leave::Run)) => Verdict::Allow(Permit {
            action: action.clone(),
            request: Arc::clone(request),
        }),
        Ok((action, Leave::Ask)) => Verdict::ApprovalRequired(action.clone()),
        Err(reason) => return Verdict::Deny(reason),
    };
    match grant.root().mode {
        GrantMode::Live => verdict,
        GrantMode::Shadow => Verdict::EffectSuppressed,
    }
}

/// A call to be judged.
struct Call<'a> {
    request: &'a Request,
    evidence: Evidence<'a>,
    now: Timestamp,
}

/// What is left of a request that nothing refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leave {
    Run,
    Ask,
}

fn decide<'a>(
    grant: &VerifiedGrant,
    call: &Call<'_>,
    catalog: &'a ActionCatalog,
) -> Result<(&'a ActionId, Leave), DenialReason> {
    let found = catalog.entry(&call.request.action);
    let action = found.map(|(id, entry)| Asked {
        id,
        entry,
        listed: grant.listed(id.as_str()),
    });
    let leave = evaluate(grant, action.as_ref(), Some(call))?;
    let (id, _) = found.ok_or(DenialReason::UnknownAction)?;
    Ok((id, leave))
}

/// An action that was looked up, in the catalog and in the grant.
struct Asked<'a> {
    id: &'a ActionId,
    entry: &'a Entry,
    listed: Option<Listed>,
}

/// The one order of checks: for a call, or for some call where there is none yet.
fn evaluate(
    grant: &VerifiedGrant,
    action: Option<&Asked<'_>>,
    call: Option<&Call<'_>>,
) -> Result<Leave, DenialReason> {
    let origin = call.map_or(Origin::Worker, |call| call.request.origin);
    if grant.is_contradictory() {
        return Err(DenialReason::CaveatWidening);
    }
    if call.is_some_and(|call| call.now >= grant.expires_at()) {
        return Err(DenialReason::GrantExpired);
    }
    let Asked { id, entry, listed } = action.ok_or(DenialReason::UnknownAction)?;
    if origin == Origin::Worker && entry.class() == Some(Class::ControlPlane) {
        return Err(DenialReason::ControlPlaneOwned);
    }
    if origin == Origin::Worker && *listed == Some(Listed::Denied) {
        return Err(DenialReason::ExplicitDeny);
    }
    reach(grant, entry)?;
    hold_bounds(grant, id, entry, call)?;
    if origin == Origin::Kernel {
        return match entry.kernel_origin {
            true => Ok(Leave::Run),
            false => Err(DenialReason::KernelOriginNotTrusted),
        };
    }
    if grant.mandate().is_some() || entry.requirements.is_some() {
        requirements::meet(grant, id, entry, call.map(|call| &call.request.arguments))?;
    }
    if let Some(token_type) = &entry.selection_token_type {
        match call {
            Some(call) => check_selection(grant, call, token_type)?,
            None if grant
                .selection_tokens()
                .values()
                .any(|held| held == token_type) => {}
            None => return Err(DenialReason::SelectionTokenInvalid),
        }
    }
    let standing = call_for(*listed, entry);
    match standing.filter(|_| !(entry.non_delegable && grant.is_handed_on())) {
        Some(Standing::ApprovalRequired) => {
            match call.and_then(|call| Some((call, call.evidence.approval?))) {
                None => Ok(Leave::Ask),
                Some((call, approval)) => check_approval(call, approval).map(|()| Leave::Run),
            }
        }
        Some(Standing::Allowed) => Ok(Leave::Run),
        None => Err(DenialReason::NotGranted),
    }
}

/// Whether the arguments keep what the grant and the action itself bind of them, or some could.
fn hold_bounds(
    grant: &VerifiedGrant,
    id: &ActionId,
    entry: &Entry,
    call: Option<&Call<'_>>,
) -> Result<(), DenialReason> {
    let named = |(name, value): (&String, &String)| {
        let given = call.map(|call| call.request.arguments.get(name));
        takes(entry, name)
            && given
                .is_none_or(|given| matches!(given, Some(Value::String(given)) if given == value))
    };
    let placed = |call: &Call<'_>| {
        let of_grant = grant.bounds_of(id.as_str()).iter();
        let mut bounds = of_grant.chain(entry.bounds());
        bounds.all(|bound| bound.holds(&call.request.arguments))
    };
    match grant.bound_parameters().iter().all(named) && call.is_none_or(placed) {
        true => Ok(()),
        false => Err(DenialReason::CaveatWidening),
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
    call: &Call<'_>,
    token_type: &str,
) -> Result<(), DenialReason> {
    let valid = call.request.selection_token.is_some_and(|presented| {
        let held = grant.selection_tokens().get(&presented);
        held.is_some_and(|held_as| held_as == token_type)
            && call.evidence.selection_token.is_some_and(|token| {
                token.id == presented
                    && token.token_type == token_type
                    && call.now < token.expires_at
            })
    });
    if valid {
        Ok(())
    } else {
        Err(DenialReason::SelectionTokenInvalid)
    }
}

fn check_approval(call: &Call<'_>, approval: &Approval) -> Result<(), DenialReason> {
    if call.now >= approval.expires_at {
        return Err(DenialReason::ApprovalExpired);
    }
    if approval.decision != Decision::Approved {
        return Err(DenialReason::ApprovalMissing);
    }
    if call.request.payload_digest != Some(approval.payload_digest)
        || call.request.target_digest != Some(approval.target_digest)
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

/// Why an action is absent from a grant's view: no call of it could pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Absence {
    /// The gate refuses every call of it.
    Denied(DenialReason),
    /// Nothing dispatches it.
    NotDispatchable,
    /// It has no descriptor, so that a model cannot be told of it.
    NotDescribed,
}

impl Absence {
    /// The reason as it is written in the ledger.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Denied(reason) => reason.as_str(),
            Self::NotDispatchable => "not_dispatchable",
            Self::NotDescribed => "not_described",
        }
    }
}

/// How an action stands in a grant for some call of it.
///
/// This is the gate's own judgement, made without arguments, evidence and time: what it exposes
/// and what [`gate`] lets through are the same set.
///
/// # Errors
/// [`Absence`] when no call of it could pass.
pub fn exposure(
    grant: &VerifiedGrant,
    catalog: &ActionCatalog,
    id: &str,
) -> Result<Standing, Absence> {
    let unknown = Absence::Denied(DenialReason::UnknownAction);
    let (id, entry) = catalog.entry(id).ok_or(unknown)?;
    let standing = exposed(grant, id, entry, grant.listed(id.as_str()))?;
    let bounds = grant.bounds_in_view(id, entry);
    if let (false, Some(tool)) = (bounds.is_empty(), &entry.tool) {
        let left = narrowed(&tool.descriptor, bounds.iter().map(|bound| &**bound));
        left.ok_or(Absence::Denied(DenialReason::CaveatWidening))?;
    }
    Ok(standing)
}

/// [`exposure`] of an action that was looked up already, on both sides. What its arguments are bound to
/// is left to the caller: a view narrows the tool's schema by it anyway.
pub(crate) fn exposed(
    grant: &VerifiedGrant,
    id: &ActionId,
    entry: &Entry,
    listed: Option<Listed>,
) -> Result<Standing, Absence> {
    let action = Asked { id, entry, listed };
    let leave = evaluate(grant, Some(&action), None).map_err(Absence::Denied)?;
    if entry.undispatchable {
        return Err(Absence::NotDispatchable);
    }
    if entry.tool.is_none() {
        return Err(Absence::NotDescribed);
    }
    Ok(match leave {
        Leave::Run => Standing::Allowed,
        Leave::Ask => Standing::ApprovalRequired,
    })
}
