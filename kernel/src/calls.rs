//! The states of a call, and the steps between them: one table.
//!
//! A call begins as a worker asks for it. Refused at once, it leaves a record and nothing else. Every step is one
//! transaction together with its record in the ledger, and is taken from the state that the table says, or
//! not at all: of two that would take a call further, one finds it where it was.

use serde::{Deserialize, Serialize};

use crate::ledger::Kind;

/// Where a call stands.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It waits for the owner.
    Pending,
    /// The owner approved it, and the kernel is about to run it.
    Approved,
    /// The owner rejected it, or put an edited one in its place.
    Rejected,
    /// Nobody decided in time.
    Expired,
    /// Its worker took it back before anybody decided.
    Cancelled,
    /// It was approved, and the gate refused it all the same when it was about to run.
    Refused,
    /// Its handler may have begun.
    Running,
    /// Its handler returned a result.
    Succeeded,
    /// Its handler returned an error.
    Failed,
    /// Nobody knows whether its handler did what it was asked, until a person finds out.
    OutcomeUnknown,
}

/// How often a call is resumed after it was cut off: a handler that takes its kernel with it must not do so for ever.
pub const MOST_RESUMPTIONS: u32 = 3;

impl State {
    /// Every state.
    pub const ALL: [Self; 10] = [
        Self::Pending,
        Self::Approved,
        Self::Rejected,
        Self::Expired,
        Self::Cancelled,
        Self::Refused,
        Self::Running,
        Self::Succeeded,
        Self::Failed,
        Self::OutcomeUnknown,
    ];

    /// The state as it is stored and told.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Refused => "refused",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::OutcomeUnknown => "outcome_unknown",
        }
    }

    /// The state of this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// Whether the arguments may be needed again: for its run, or for another one after a crash.
    #[must_use]
    pub const fn needs_arguments(self) -> bool {
        matches!(self, Self::Pending | Self::Approved | Self::Running)
    }

    /// Whether no step leads on from here.
    #[must_use]
    pub fn is_final(self) -> bool {
        STEPS.iter().all(|step| step.from != Some(self))
    }
}

/// One step of a call: from where, by what record, to where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// `None` for a call that begins.
    pub from: Option<State>,
    /// The record that is written with it.
    pub by: Kind,
    /// The state after.
    pub to: State,
}

const fn step(from: Option<State>, by: Kind, to: State) -> Step {
    Step { from, by, to }
}

/// Every step that there is.
pub const STEPS: &[Step] = &[
    step(None, Kind::CallPending, State::Pending),
    step(None, Kind::CallStarted, State::Running),
    step(Some(State::Pending), Kind::CallApproved, State::Approved),
    step(Some(State::Pending), Kind::CallRejected, State::Rejected),
    step(Some(State::Pending), Kind::CallExpired, State::Expired),
    step(Some(State::Pending), Kind::CallCancelled, State::Cancelled),
    step(Some(State::Approved), Kind::CallStarted, State::Running),
    step(Some(State::Approved), Kind::CallRefused, State::Refused),
    // It was cut off, and is run by somebody else from now on.
    step(Some(State::Running), Kind::CallResumed, State::Running),
    step(Some(State::Running), Kind::CallSucceeded, State::Succeeded),
    step(Some(State::Running), Kind::CallFailed, State::Failed),
    step(
        Some(State::Running),
        Kind::CallOutcomeUnknown,
        State::OutcomeUnknown,
    ),
    step(
        Some(State::OutcomeUnknown),
        Kind::CallSettledSucceeded,
        State::Succeeded,
    ),
    step(
        Some(State::OutcomeUnknown),
        Kind::CallSettledFailed,
        State::Failed,
    ),
];

/// Where a record takes a call; `None` where it takes it nowhere from there.
#[must_use]
pub fn after(from: Option<State>, by: Kind) -> Option<State> {
    let found = STEPS.iter().find(|step| step.from == from && step.by == by);
    found.map(|step| step.to)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_record_takes_a_call_from_one_state_to_one_other() {
        for (index, one) in STEPS.iter().enumerate() {
            // A call that is resumed runs again; whoever ran it before does not.
            assert!(one.from != Some(one.to) || one.by == Kind::CallResumed);
            let same = |other: &Step| other.from == one.from && other.by == one.by;
            assert_eq!(
                STEPS.iter().position(same),
                Some(index),
                "{one:?} is there twice"
            );
        }
    }

    #[test]
    fn every_state_is_reached_and_every_way_ends() {
        let mut reached: BTreeSet<State> = BTreeSet::new();
        let begun = STEPS.iter().filter(|step| step.from.is_none());
        let mut next: Vec<State> = begun.map(|step| step.to).collect();
        while let Some(state) = next.pop() {
            if reached.insert(state) {
                next.extend(STEPS.iter().filter(|s| s.from == Some(state)).map(|s| s.to));
            }
        }
        assert_eq!(reached, State::ALL.into());
        let last: Vec<State> = State::ALL.into_iter().filter(|s| s.is_final()).collect();
        use State::{Cancelled, Expired, Failed, Refused, Rejected, Succeeded};
        assert_eq!(
            last,
            [Rejected, Expired, Cancelled, Refused, Succeeded, Failed]
        );
    }

    #[test]
    fn nothing_runs_that_was_not_allowed_or_approved() {
        for step in STEPS.iter().filter(|step| step.to == State::Running) {
            let resumed = step.by == Kind::CallResumed && step.from == Some(State::Running);
            let begun = matches!(step.from, None | Some(State::Approved));
            assert!(resumed || begun, "{step:?}");
        }
        let approved = STEPS.iter().filter(|step| step.to == State::Approved);
        assert!(
            approved
                .into_iter()
                .all(|step| step.from == Some(State::Pending))
        );
    }

    #[test]
    fn only_a_person_leads_on_from_an_outcome_that_is_unknown_and_nothing_runs_by_it() {
        let on = STEPS
            .iter()
            .filter(|step| step.from == Some(State::OutcomeUnknown));
        for step in on {
            let settled = [Kind::CallSettledSucceeded, Kind::CallSettledFailed];
            assert!(settled.contains(&step.by), "{step:?}");
            assert!(step.to.is_final(), "{step:?}");
        }
    }

    #[test]
    fn arguments_are_kept_as_long_as_something_may_run_with_them() {
        for state in State::ALL {
            let may_run = |step: &Step| step.from == Some(state) && step.to == State::Running;
            let is_waiting = state == State::Pending;
            let needs = is_waiting || STEPS.iter().any(may_run);
            assert_eq!(state.needs_arguments(), needs, "{state:?}");
        }
    }

    #[test]
    fn names_lead_back_to_their_states() {
        for state in State::ALL {
            assert_eq!(State::of(state.as_str()), Some(state));
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        }
        assert_eq!(State::of("Pending"), None);
    }
}
