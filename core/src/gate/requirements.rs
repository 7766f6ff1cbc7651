//! What an action requires of an actor, held against the mandate of a grant: steps 11 to 18 of the
//! gate's order.

use serde_json::{Map, Value};

use super::DenialReason;
use crate::api_target::{ApiPath, ApiTarget, allows};
use crate::authority::Mandate;
use crate::authority::claims::{Unmet, unmet};
use crate::bound::{Bound, BoundArgument};
use crate::catalog::Entry;
use crate::grant::VerifiedGrant;
use crate::id::ActionId;
use crate::requirement::{EscapeHatch, Requirements};
use crate::schema::walk::escaped;

/// A call's arguments.
type Arguments = Map<String, Value>;

/// Whether the mandate meets what the action requires, and a call, or some call, keeps to the policies.
pub(super) fn meet(
    grant: &VerifiedGrant,
    id: &ActionId,
    entry: &Entry,
    call: Option<&Arguments>,
) -> Result<(), DenialReason> {
    let nothing = Requirements::default();
    let required = entry.requirements.as_deref().unwrap_or(&nothing);
    let unmet = unmet(grant.mandate(), id, required);
    // No kind at all is asked about last: a call's target comes before its kind.
    if let Some(unmet) = unmet.filter(|unmet| *unmet != Unmet::Interaction) {
        return Err(reason(unmet));
    }
    let nobody = Mandate::default();
    let mandate = grant.mandate().unwrap_or(&nobody);
    if let Some(hatch) = &required.escape_hatch {
        let bounds = grant.bounds_of(id.as_str());
        let may_be_sent = match call {
            Some(call) => sends(hatch, mandate, call),
            None => some_call_is_sent(hatch, mandate, bounds),
        };
        if !may_be_sent {
            return Err(DenialReason::EscapeHatchTarget);
        }
    }
    if let Some(argument) = &required.interaction {
        let kinds = &mandate.interaction_kinds;
        let may_turn = match call {
            Some(call) => text(call, argument).is_some_and(|kind| kinds.contains(kind)),
            None => !kinds.is_empty(),
        };
        if !may_turn {
            return Err(DenialReason::InteractionKind);
        }
    }
    Ok(())
}

fn reason(unmet: Unmet) -> DenialReason {
    match unmet {
        Unmet::PolicyDenied => DenialReason::PolicyDenied,
        Unmet::Mode => DenialReason::TaskMode,
        Unmet::Role => DenialReason::Role,
        Unmet::ClaimDenied => DenialReason::ClaimDenied,
        Unmet::ClaimMissing => DenialReason::ClaimMissing,
        Unmet::SecretValues => DenialReason::SecretValues,
        Unmet::EscapeHatch => DenialReason::EscapeHatch,
        Unmet::Interaction => DenialReason::InteractionKind,
    }
}

fn text<'a>(arguments: &'a Arguments, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

fn sends(hatch: &EscapeHatch, mandate: &Mandate, arguments: &Arguments) -> bool {
    let request = text(arguments, &hatch.method).zip(text(arguments, &hatch.path));
    request.is_some_and(|(method, path)| allows(&mandate.api_targets, method, path))
}

/// Whether what may be sent and what the grant binds meet somewhere. If they do, it is at a method and a
/// path that a target or a bound names, or in whole arguments that a bound names.
fn some_call_is_sent(hatch: &EscapeHatch, mandate: &Mandate, bounds: &[BoundArgument]) -> bool {
    if bounds.is_empty() {
        return true;
    }
    let at = |name: &str| format!("/{}", escaped(name));
    let (at_method, at_path) = (at(&hatch.method), at(&hatch.path));
    let whole = bounds.iter().filter(|bound| bound.at.is_empty());
    let wholes: Vec<&Arguments> = whole
        .flat_map(values)
        .filter_map(Value::as_object)
        .collect();
    if bounds.iter().any(|bound| bound.at.is_empty()) {
        let passes = |call: &&Arguments| {
            bounds.iter().all(|bound| bound.holds(call)) && sends(hatch, mandate, call)
        };
        return wholes.iter().any(passes);
    }
    let bound: Vec<_> = bounds
        .iter()
        .filter(|b| b.at == at_method || b.at == at_path)
        .collect();
    let named = |at: &str| {
        let bounds = bound.iter().filter(|bound| bound.at == at);
        let texts: Vec<&str> = bounds.flat_map(|bound| texts(bound)).collect();
        texts
    };
    let targets = || mandate.api_targets.iter();
    let mut methods = named(&at_method);
    methods.extend(targets().map(|target| target.method.as_str()));
    let mut paths = named(&at_path);
    paths.extend(targets().map(path_of));
    methods.iter().any(|method| {
        paths.iter().any(|path| {
            let call = [(&hatch.method, *method), (&hatch.path, *path)];
            let call = call.map(|(name, text)| (name.clone(), Value::from(text)));
            let call = Arguments::from_iter(call);
            bound.iter().all(|bound| bound.holds(&call)) && sends(hatch, mandate, &call)
        })
    })
}

fn path_of(target: &ApiTarget) -> &str {
    match &target.path {
        ApiPath::Exact(path) | ApiPath::Below(path) => path,
    }
}

fn values(bound: &BoundArgument) -> &[Value] {
    match &bound.to {
        Bound::OneOf(values) => values,
        Bound::Within(_) => &[],
    }
}

fn texts(bound: &BoundArgument) -> Vec<&str> {
    match &bound.to {
        Bound::OneOf(values) => values.iter().filter_map(Value::as_str).collect(),
        Bound::Within(start) => vec![start],
    }
}
