//! What clients saw, what the outside took, and what the store and the ledger say, held against each other.

use std::collections::{BTreeMap, BTreeSet};

use actum_kernel::calls::{STEPS, State};
use actum_kernel::store::StoredCall;
use serde_json::Value;

use crate::counts::Counts;
use crate::scene::Seen;
use crate::stored::Stored;

/// Everything that does not agree, in words.
pub fn reckon(
    seen: &Seen,
    taken: &BTreeMap<String, usize>,
    stored: &Stored,
    quorum: usize,
    counts: &Counts,
) -> Vec<String> {
    let mut faults = Vec::new();
    answers(seen, stored, &mut faults);
    clicks(seen, stored, &mut faults);
    effects(seen, taken, stored, &mut faults);
    histories(stored, quorum, &mut faults);
    counts.many("calls in the store", stored.calls.len());
    counts.many("records in the ledger", stored.records.len());
    for call in stored.calls.values() {
        counts.one(format!("calls: {}", call.state.as_str()));
    }
    faults
}

fn text(call: &StoredCall) -> Option<String> {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
    arguments["text"].as_str().map(str::to_owned)
}

/// What was answered is in the store, and is what the store says.
fn answers(seen: &Seen, stored: &Stored, faults: &mut Vec<String>) {
    for answer in &seen.answers {
        let Some(id) = &answer.call else { continue };
        let Some(call) = stored.calls.get(id) else {
            faults.push(format!("{answer:?}: it is not in the store"));
            continue;
        };
        let fits: &[State] = match (answer.status, answer.reason.as_str()) {
            (200, _) => &[State::Succeeded],
            (202, _) | (422, "idempotency_recovery_in_flight") => &State::ALL,
            (403, _) => &[State::Rejected, State::Refused, State::Expired],
            (422, "outcome_unknown") => &[State::OutcomeUnknown],
            (422, _) => &[State::Failed],
            _ => &[],
        };
        if !fits.contains(&call.state) || text(call) != answer.text {
            faults.push(format!("{answer:?}: the store has {call:?}"));
        }
    }
    for (id, state) in &seen.states {
        let now = stored.calls.get(id).map(|call| call.state);
        let was = State::of(state).expect("a state");
        if now.is_none() || (was.is_final() && now != Some(was)) {
            faults.push(format!("{id} was seen {state}, and is {now:?}"));
        }
    }
}

/// A decision that was answered counts.
fn clicks(seen: &Seen, stored: &Stored, faults: &mut Vec<String>) {
    for click in seen
        .clicks
        .iter()
        .filter(|click| matches!(click.status, 200 | 201))
    {
        let now = stored.calls.get(&click.call).map(|call| call.state);
        let was = click
            .state
            .as_deref()
            .map(|state| State::of(state).expect("a state"));
        let fits = match (was, &click.edited) {
            (Some(was), _) if was.is_final() => now == Some(was),
            (_, Some(edited)) => now == Some(State::Rejected) && stored.calls.contains_key(edited),
            _ => now.is_some(),
        };
        if !fits {
            faults.push(format!("{click:?}: the call is {now:?}"));
        }
    }
}

/// Each effect belongs to a call of its own that had begun, and each success to an effect.
fn effects(
    seen: &Seen,
    taken: &BTreeMap<String, usize>,
    stored: &Stored,
    faults: &mut Vec<String>,
) {
    let mut of: BTreeMap<String, Vec<&StoredCall>> = BTreeMap::new();
    for call in stored.calls.values() {
        if let Some(text) = text(call) {
            of.entry(text).or_default().push(call);
        }
    }
    for text in taken.keys().chain(of.keys()).collect::<BTreeSet<_>>() {
        let calls = of.get(text).map(Vec::as_slice).unwrap_or_default();
        let effects = taken.get(text).copied().unwrap_or_default();
        let are = |state: State| calls.iter().filter(|call| call.state == state).count();
        let (sure, perhaps) = (are(State::Succeeded), are(State::OutcomeUnknown));
        if effects < sure || effects > sure + perhaps {
            faults.push(format!("{text:?} had {effects} effects, for {calls:?}"));
        }
        if seen.posted.get(text) == Some(&true) && calls.len() > 1 {
            faults.push(format!(
                "{text:?} was posted under one key, and is {calls:?}"
            ));
        }
    }
}

/// The records of each call are a way through the table of steps, to where it stands; nobody is on the way any more, and
/// nothing was approved by fewer than have to.
fn histories(stored: &Stored, quorum: usize, faults: &mut Vec<String>) {
    let mut states: BTreeMap<&str, State> = BTreeMap::new();
    for record in &stored.records {
        let Some(call) = record.body["call"].as_str() else {
            continue;
        };
        let is_step = STEPS.iter().any(|step| step.by.as_str() == record.kind);
        if !is_step {
            continue;
        }
        let from = states.get(call).copied();
        let step = STEPS
            .iter()
            .find(|step| step.from == from && step.by.as_str() == record.kind);
        match step {
            Some(step) => drop(states.insert(call, step.to)),
            None => faults.push(format!(
                "{call} was {from:?}, and then came {}",
                record.kind
            )),
        }
    }
    for (id, call) in &stored.calls {
        if states.get(id.as_str()) != Some(&call.state) {
            faults.push(format!(
                "{id} is {:?}, and {:?} by its records",
                call.state,
                states.get(id.as_str())
            ));
        }
        if matches!(call.state, State::Running | State::Approved) {
            faults.push(format!("{id} is stuck: {call:?}"));
        }
        let approvals = stored.decisions[id]
            .iter()
            .filter(|decision| decision.approved)
            .count();
        let went_on = matches!(
            call.state,
            State::Succeeded | State::Failed | State::OutcomeUnknown | State::Refused
        );
        if call.waiting.is_some() && went_on && approvals < quorum {
            faults.push(format!("{id} is {:?} by {approvals} approvals", call.state));
        }
    }
    for id in states.keys().filter(|id| !stored.calls.contains_key(**id)) {
        faults.push(format!("{id} is in the ledger, and not in the store"));
    }
}
