//! The table of a call's states, held by a model checker: every order of clicks, deliveries, crashes and restarts
//! of two kernels.
//!
//! The model (`moves`) takes the kernel's own table and adds no guard of its own to it: whoever may write a record tries
//! to in every state, and only the table says whether the call goes on. The kernel asks the table, and more
//! besides, so what holds here holds there. A table with one step more or less breaks a property, by name.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod moves;
mod promises;
mod rules;
mod table;
mod world;

use actum_kernel::calls::State::{
    self, Approved, Cancelled, Expired, Failed, OutcomeUnknown, Pending, Refused, Rejected,
    Running, Succeeded,
};
use actum_kernel::calls::{STEPS, after};
use actum_kernel::ledger::Kind;
use promises::{
    ENDS_ONCE, FOUNDED, KEY_RUNS_ONCE, NOT_STUCK, NOTHING_OF_THE_REFUSED, ONCE, SETTLED_ONCE,
    breach,
};
use rules::Rules;
use stateright::{Checker, Model};
use table::Table;
use world::{Post, Words};

/// A call that waits for one approval, and comes twice.
fn one_approver() -> Rules {
    Rules {
        posts: vec![Post::of(Words::First), Post::of(Words::First)],
        quorum: Some(1),
        kills: 1,
        ..Rules::of(Table::real())
    }
}

/// A call that waits for two approvals, and that somebody may edit or take back.
fn two_approvers() -> Rules {
    Rules {
        posts: vec![Post::of(Words::First)],
        quorum: Some(2),
        may_edit: true,
        may_cancel: true,
        may_settle: true,
        ..Rules::of(Table::real())
    }
}

/// A call that runs at once, and comes three times: twice as it was, and once with other arguments.
fn allowed(keyed: bool) -> Rules {
    let post = |words| Post { words, keyed };
    Rules {
        posts: vec![post(Words::First), post(Words::First), post(Words::Other)],
        ..Rules::of(Table::real())
    }
}

/// A call of a handler that is declared idempotent, which is resumed wherever it was cut off.
fn resumed() -> Rules {
    Rules {
        posts: vec![Post::of(Words::First)],
        quorum: Some(1),
        is_idempotent: true,
        may_settle: true,
        ..Rules::of(Table::real())
    }
}

/// A call with a key that waits for an approval, and comes three times.
fn keyed_and_approved() -> Rules {
    Rules {
        quorum: Some(1),
        ..allowed(true)
    }
}

#[test]
fn every_order_of_events_keeps_every_promise() {
    assert!(STEPS.iter().all(|step| {
        let real = after(step.from, step.by);
        real == Some(step.to) && Table::real().after(step.from, step.by) == real
    }));
    let mut all = 0;
    for (name, rules, floor) in [
        ("one approver, delivered twice", one_approver(), 10_000),
        ("two approvers, and edits", two_approvers(), 10_000),
        ("allowed, delivered three times", allowed(false), 10_000),
        ("allowed, three times with one key", allowed(true), 100),
        (
            "one approver, three times with one key",
            keyed_and_approved(),
            1_000,
        ),
        (
            "one approver, and resumed where it was cut off",
            resumed(),
            1_000,
        ),
    ] {
        let checker = rules.checker().threads(2).spawn_bfs().join();
        let states = checker.unique_state_count();
        println!(
            "{name}: {states} states, {} moves at most",
            checker.max_depth()
        );
        checker.assert_properties();
        assert!(states >= floor, "{name}: only {states} states");
        all += states;
    }
    println!("{all} states in all");
}

/// What a faulty table, or a kernel that leaves out one look, would do.
#[test]
fn one_step_more_or_less_breaks_a_promise() {
    let wrong = |from: State, by: Kind, to: State| Table::real().with(from, by, to);
    let lacks = |from: State, by: Kind| Table::real().without(from, by);
    for (table, broken) in [
        (wrong(Rejected, Kind::CallStarted, Running), ENDS_ONCE),
        (wrong(Rejected, Kind::CallApproved, Approved), FOUNDED),
        (wrong(Pending, Kind::CallStarted, Running), FOUNDED),
        (wrong(Expired, Kind::CallApproved, Approved), ENDS_ONCE),
        (wrong(Refused, Kind::CallApproved, Approved), ENDS_ONCE),
        (wrong(Succeeded, Kind::CallStarted, Running), ONCE),
        (wrong(OutcomeUnknown, Kind::CallStarted, Running), ONCE),
        (wrong(Running, Kind::CallStarted, Running), ONCE),
        (
            wrong(Running, Kind::CallRejected, Rejected),
            NOTHING_OF_THE_REFUSED,
        ),
        (
            wrong(Running, Kind::CallExpired, Expired),
            NOTHING_OF_THE_REFUSED,
        ),
        (
            wrong(Running, Kind::CallCancelled, Cancelled),
            NOTHING_OF_THE_REFUSED,
        ),
        (wrong(Succeeded, Kind::CallCancelled, Cancelled), ENDS_ONCE),
        (wrong(Cancelled, Kind::CallApproved, Approved), ENDS_ONCE),
        (
            wrong(Succeeded, Kind::CallOutcomeUnknown, OutcomeUnknown),
            ENDS_ONCE,
        ),
        (
            wrong(OutcomeUnknown, Kind::CallSucceeded, Succeeded),
            ENDS_ONCE,
        ),
        (wrong(Failed, Kind::CallExpired, Expired), ENDS_ONCE),
        (
            wrong(Running, Kind::CallSettledFailed, Failed),
            SETTLED_ONCE,
        ),
        (
            wrong(Succeeded, Kind::CallSettledFailed, Failed),
            SETTLED_ONCE,
        ),
        (lacks(Approved, Kind::CallStarted), NOT_STUCK),
        (lacks(Approved, Kind::CallRefused), NOT_STUCK),
        (lacks(Pending, Kind::CallExpired), NOT_STUCK),
        (lacks(Running, Kind::CallOutcomeUnknown), NOT_STUCK),
    ] {
        let told = table.told();
        breaks(
            &told,
            Rules {
                table,
                ..two_approvers()
            },
            broken,
        );
    }
}

/// That one of two has to be enough is the decision's rule, and not the table's.
#[test]
fn half_a_quorum_that_approves_breaks_a_promise() {
    let table = Table::real().with(Pending, Kind::CallEndorsed, Approved);
    breaks(
        "half a quorum",
        Rules {
            table,
            ..two_approvers()
        },
        FOUNDED,
    );
}

#[test]
fn each_look_of_a_transaction_is_needed() {
    let blind = Rules {
        looks_at_the_task: false,
        ..one_approver()
    };
    breaks("a start that does not look at the task", blind, FOUNDED);
    let blind = Rules {
        looks_at_the_key: false,
        ..allowed(true)
    };
    breaks(
        "a start that does not look at the key",
        blind,
        KEY_RUNS_ONCE,
    );
}

#[test]
fn resuming_what_is_not_idempotent_breaks_a_promise() {
    let eager = Rules {
        resumes_all: true,
        ..one_approver()
    };
    breaks("a kernel that resumes every call", eager, ONCE);
    let table = Table::real().with(OutcomeUnknown, Kind::CallResumed, Running);
    let late = Rules { table, ..resumed() };
    breaks(
        "a call that is resumed after it was given up",
        late,
        ENDS_ONCE,
    );
}

fn breaks(what: &str, rules: Rules, promise: &'static str) {
    let path = breach(rules, promise);
    let path = path.unwrap_or_else(|| panic!("with {what} it still holds that {promise}"));
    println!("{what}: not that {promise}: {path}");
}
