//! Which places decided, and the sentence that says why.

use super::lines::Sources;
use super::{Effect, Line, Place};
use crate::authority::{Mandate, ManifestKind};
use crate::catalog::ActionCatalog;
use crate::gate::{Absence, DenialReason, Standing};
use crate::grant::VerifiedGrant;
use crate::requirement::{Class, Requirements};

/// Marks the lines that decided, and gives their places, or those elsewhere in the manifests that did.
pub(super) fn decided_by(
    judged: Result<Standing, Absence>,
    required: Option<&Requirements>,
    lines: &mut [Line],
    sources: &Sources<'_>,
) -> Vec<Place> {
    let effect = match judged {
        Ok(Standing::Allowed) => Some(Effect::Allows),
        Ok(Standing::ApprovalRequired) => Some(Effect::AsksForApproval),
        Err(Absence::Denied(DenialReason::ExplicitDeny | DenialReason::PolicyDenied)) => {
            Some(Effect::Denies)
        }
        Err(Absence::Denied(DenialReason::CaveatWidening)) => Some(Effect::Binds),
        Err(Absence::Denied(DenialReason::NotGranted)) => Some(Effect::Narrows),
        Err(_) => None,
    };
    let by_scenario = judged == Err(Absence::Denied(DenialReason::PolicyDenied));
    let scenario = sources.whole(ManifestKind::Scenario, "denied_actions");
    let is_of_scenario = |line: &Line| Some(&line.at.file) == scenario.as_ref().map(|it| &it.file);
    for line in lines.iter_mut().filter(|line| Some(line.effect) == effect) {
        // The same word denies in two ways; each has its own reason.
        line.decided = line.effect != Effect::Denies || is_of_scenario(line) == by_scenario;
    }
    let decided = lines.iter().filter(|line| line.decided);
    let mut places: Vec<Place> = decided.map(|line| line.at.clone()).collect();
    if places.is_empty() {
        places.extend(elsewhere(judged, required, sources));
    }
    places
}

/// The places that decide without naming the action.
fn elsewhere(
    judged: Result<Standing, Absence>,
    required: Option<&Requirements>,
    sources: &Sources<'_>,
) -> Vec<Place> {
    let claims = || required.into_iter().flat_map(|required| &required.claims);
    let whole = |kind, field| sources.whole(kind, field).into_iter().collect();
    let reason = match judged {
        // No list allows it, so its claims do.
        Ok(Standing::Allowed) => {
            let granted = claims().map(|claim| sources.claim(claim));
            return granted
                .flat_map(|by| by.actor.into_iter().chain(by.scenario))
                .collect();
        }
        Err(Absence::Denied(reason)) => reason,
        _ => return Vec::new(),
    };
    match reason {
        DenialReason::ClaimDenied => claims()
            .flat_map(|claim| sources.claim(claim).denied)
            .collect(),
        DenialReason::Role => sources.roles(),
        DenialReason::TaskMode => sources.mode(),
        DenialReason::EgressClassNotGranted => {
            whole(ManifestKind::CapabilityPack, "allowed_egress_classes")
        }
        DenialReason::OutputChannelNotGranted => whole(ManifestKind::Agent, "output_channels"),
        DenialReason::SecretValues => whole(ManifestKind::Scenario, "secret_values"),
        DenialReason::EscapeHatch => whole(ManifestKind::Scenario, "api_targets"),
        DenialReason::InteractionKind => whole(ManifestKind::Scenario, "interaction_kinds"),
        _ => Vec::new(),
    }
}

/// Why, in a sentence.
pub(super) fn because(
    grant: &VerifiedGrant,
    catalog: &ActionCatalog,
    id: &str,
    judged: Result<Standing, Absence>,
    lines: &[Line],
) -> String {
    let listed = |effect: Effect| lines.iter().any(|line| line.effect == effect);
    let reason = match judged {
        Ok(Standing::ApprovalRequired) => {
            let asks = catalog.tool_descriptor_for(id);
            return match asks.is_some_and(|tool| tool.approval_required) {
                true => "it asks for the owner's approval of every call, whoever is granted it",
                false => "a list asks for the owner's approval of every call",
            }
            .to_owned();
        }
        Ok(Standing::Allowed) => {
            return match catalog.class_of(id) {
                Some(Class::Always) => "it is offered to every actor whose task is active",
                Some(Class::Optional) => "every claim that it requires is held",
                Some(Class::ControlPlane) | None => "a list allows it, and nothing denies it",
            }
            .to_owned();
        }
        Err(Absence::NotDispatchable) => return "nothing dispatches it".to_owned(),
        Err(Absence::NotDescribed) => {
            return "it has no descriptor, so that a model cannot be told of it".to_owned();
        }
        Err(Absence::Denied(reason)) => reason,
    };
    let required = catalog.requirements_for(id);
    let missing = |mandate: Option<&Mandate>| {
        let missing = required.map(|required| Mandate::sorted_claims(mandate, required).1);
        quoted(missing.unwrap_or_default())
    };
    match reason {
        DenialReason::NotGranted if listed(Effect::Narrows) => {
            "a policy leaves only what stands in its list, and it does not".to_owned()
        }
        DenialReason::NotGranted if grant.is_handed_on() => {
            "nothing grants it, or it was not handed on to this task".to_owned()
        }
        DenialReason::NotGranted => "nothing grants it".to_owned(),
        DenialReason::ExplicitDeny => "a list denies it, whatever other lists say".to_owned(),
        DenialReason::PolicyDenied => "the scenario denies it".to_owned(),
        DenialReason::ControlPlaneOwned => {
            "it is the control plane's own, which no agent sees or calls".to_owned()
        }
        DenialReason::UnknownAction => "it does not exist".to_owned(),
        DenialReason::CaveatWidening if grant.is_contradictory() => {
            "the grant's caveats contradict each other, so that nothing passes".to_owned()
        }
        DenialReason::CaveatWidening if catalog.egress_declaration_for(id).is_none() => {
            "it does not declare what leaves when it runs".to_owned()
        }
        DenialReason::CaveatWidening => {
            "no call of it could keep what its arguments are bound to".to_owned()
        }
        DenialReason::EgressClassNotGranted => format!(
            "it needs the egress class {}, which the pack does not grant",
            quoted(egress_class(catalog, id))
        ),
        DenialReason::OutputChannelNotGranted => format!(
            "it needs every output channel of {}, and the agent has not all of them",
            quoted(channels(catalog, id))
        ),
        DenialReason::TaskMode => "it is not for the task's mode".to_owned(),
        DenialReason::Role => "the actor has none of the roles that it is for".to_owned(),
        DenialReason::ClaimDenied => {
            format!(
                "policy denies a claim that it requires: {}",
                missing(grant.mandate())
            )
        }
        DenialReason::ClaimMissing if grant.mandate().is_none() => format!(
            "it requires {}, and authority came by lists alone: the route names no scenario, or the sender is no actor",
            missing(None)
        ),
        DenialReason::ClaimMissing => format!(
            "claims that it requires are missing: {}",
            missing(grant.mandate())
        ),
        DenialReason::SecretValues => {
            "it reads values of secrets, which no scenario of the task switches on".to_owned()
        }
        DenialReason::EscapeHatch => {
            "it is an escape hatch, which no scenario of the task switches on".to_owned()
        }
        DenialReason::InteractionKind => {
            "it turns to a person, which no scenario of the task switches on".to_owned()
        }
        DenialReason::SelectionTokenInvalid => format!(
            "it needs a selection token of the type {}, and the task holds none",
            quoted(catalog.selection_token_type_for(id))
        ),
        // What is asked of one call alone, and so of no exposure.
        DenialReason::GrantExpired
        | DenialReason::ApprovalMissing
        | DenialReason::ApprovalDigestMismatch
        | DenialReason::ApprovalExpired
        | DenialReason::KernelOriginNotTrusted
        | DenialReason::EscapeHatchTarget
        | DenialReason::LimitReached => reason.as_str().replace('_', " "),
    }
}

fn egress_class<'c>(catalog: &'c ActionCatalog, id: &str) -> Option<&'c str> {
    catalog.egress_declaration_for(id)?.egress_class.as_deref()
}

fn channels<'c>(catalog: &'c ActionCatalog, id: &str) -> impl Iterator<Item = &'c str> {
    let declared = catalog.egress_declaration_for(id);
    let channels = declared.and_then(|egress| egress.output_channels.as_ref());
    channels.into_iter().flatten().map(String::as_str)
}

fn quoted<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let words: Vec<_> = words.into_iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}
