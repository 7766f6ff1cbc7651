//! The record of one decision about one action: what was asked of whom, what was held, and why it came
//! out so.
//!
//! It is for the owner and the auditor. A worker is told the claims of an action that its view shows,
//! and nothing of any other.

use serde::{Deserialize, Serialize};

use crate::authority::Mandate;
use crate::catalog::ActionCatalog;
use crate::gate::{Standing, Verdict, exposure};
use crate::grant::VerifiedGrant;
use crate::id::ActionId;
use crate::requirement::Class;

/// The most exposures that are kept of one grant; what lies beyond is counted.
pub const MAX_EXPOSURES: usize = 4_096;

/// When a decision was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Before the worker runs: what it is shown.
    Exposure,
    /// When it calls.
    Invocation,
}

/// What came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The worker is shown it.
    Exposed,
    /// The worker is not shown it.
    Absent,
    /// It may run.
    Allowed,
    /// It waits for the owner.
    ApprovalRequired,
    /// It would be allowed, and the grant's effects are not real.
    EffectSuppressed,
    /// It may not run.
    Denied,
}

/// What a decision led to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateChange {
    /// Nothing.
    #[default]
    None,
    /// A call waits for the owner.
    CallPending,
    /// A call was begun.
    CallStarted,
}

/// The record of one decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Authorization {
    /// When it was made.
    pub phase: Phase,
    /// The action, as it was asked for.
    pub operation_id: String,
    /// What came out.
    pub outcome: Outcome,
    /// Why, in one word.
    pub reason: String,
    /// The claims that the action requires.
    pub considered: Vec<String>,
    /// Those of them that the actor or the scenario holds.
    pub granted: Vec<String>,
    /// Those of them that nobody holds, or that policy denies.
    pub missing: Vec<String>,
    /// The paths at which its arguments and results are redacted.
    pub redactions: Vec<String>,
    /// What it led to.
    pub state_change: StateChange,
}

impl Authorization {
    /// The record of a decision; `None` for a mandate where authority came by lists alone.
    #[must_use]
    pub fn new(
        catalog: &ActionCatalog,
        mandate: Option<&Mandate>,
        phase: Phase,
        operation_id: &str,
        (outcome, reason): (Outcome, &str),
    ) -> Self {
        let required = catalog.requirements_for(operation_id);
        let (granted, missing) =
            required.map_or_else(Default::default, |it| Mandate::sorted_claims(mandate, it));
        let owned = |claims: Vec<&str>| claims.into_iter().map(str::to_owned).collect();
        Self {
            phase,
            operation_id: operation_id.to_owned(),
            outcome,
            reason: reason.to_owned(),
            considered: required.map_or_else(Vec::new, |it| it.claims.iter().cloned().collect()),
            granted: owned(granted),
            missing: owned(missing),
            redactions: catalog
                .redactions_of(operation_id)
                .keys()
                .cloned()
                .collect(),
            state_change: StateChange::None,
        }
    }

    /// With what it led to.
    #[must_use]
    pub fn leading_to(mut self, change: StateChange) -> Self {
        self.state_change = change;
        self
    }

    /// The record of a call's verdict.
    #[must_use]
    pub fn of_call(
        grant: &VerifiedGrant,
        catalog: &ActionCatalog,
        operation_id: &str,
        verdict: &Verdict,
    ) -> Self {
        let told = match verdict {
            Verdict::Allow(_) => (Outcome::Allowed, allowed_reason(catalog, operation_id)),
            Verdict::ApprovalRequired(_) => (
                Outcome::ApprovalRequired,
                allowed_reason(catalog, operation_id),
            ),
            Verdict::EffectSuppressed => (Outcome::EffectSuppressed, "effect_suppressed"),
            Verdict::Deny(reason) => (Outcome::Denied, reason.as_str()),
        };
        Self::new(
            catalog,
            grant.mandate(),
            Phase::Invocation,
            operation_id,
            told,
        )
    }
}

/// Why something is allowed: by what its class says, or because a list has it.
fn allowed_reason(catalog: &ActionCatalog, id: &str) -> &'static str {
    match catalog.class_of(id) {
        Some(Class::Always) => "task_scoped_always_tool",
        Some(Class::Optional) => "required_claims_granted",
        Some(Class::ControlPlane) | None => "listed",
    }
}

/// What a grant exposes of a catalog, and why it exposes no more: one record for each action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exposures {
    /// The records: of what is exposed first, then of the rest, each in the order of ids.
    pub records: Vec<Authorization>,
    /// How many more there would be. They are of absent actions, unless a grant has thousands.
    pub left_out: usize,
}

impl Exposures {
    /// Works them out. Pure: the same two give the same records.
    #[must_use]
    pub fn of(grant: &VerifiedGrant, catalog: &ActionCatalog) -> Self {
        let records = catalog
            .ids()
            .into_iter()
            .map(|id| exposure_of(grant, catalog, id));
        let (mut exposed, absent): (Vec<_>, Vec<_>) =
            records.partition(|record| record.outcome == Outcome::Exposed);
        exposed.extend(absent);
        let left_out = exposed.len().saturating_sub(MAX_EXPOSURES);
        exposed.truncate(MAX_EXPOSURES);
        Self {
            records: exposed,
            left_out,
        }
    }
}

/// The record of whether a worker is shown one action.
#[must_use]
pub fn exposure_of(grant: &VerifiedGrant, catalog: &ActionCatalog, id: &ActionId) -> Authorization {
    let told = match exposure(grant, catalog, id.as_str()) {
        Ok(Standing::Allowed | Standing::ApprovalRequired) => {
            (Outcome::Exposed, allowed_reason(catalog, id.as_str()))
        }
        Err(absence) => (Outcome::Absent, absence.as_str()),
    };
    Authorization::new(catalog, grant.mandate(), Phase::Exposure, id.as_str(), told)
}
