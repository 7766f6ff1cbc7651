//! Calls that wait: what is decided on them, and who takes them further.

use actum::gate::DenialReason;
use actum_kernel::calls::State;
use actum_kernel::ledger::Kind;
use actum_kernel::store::{
    Decided, NewCall, NewDecision, NotBegun, Started, StoredDecision, Waiting,
};
use serde_json::json;
use ulid::Ulid;

use crate::backend::Opened;
use crate::fixture::{
    READ, TAKE, admitted, entry, held, issued, new_call, now, state, verified, waiting_for,
};

suite! {
    a_waiting_call_is_stored_with_all_that_it_waits_with,
    an_approval_takes_a_call_on_and_a_second_one_does_not,
    two_of_a_quorum_have_to_approve_and_one_may_reject,
    of_many_that_would_run_an_approved_call_one_does,
    a_step_is_taken_from_where_it_leads_on_or_not_at_all,
    a_call_that_is_taken_back_keeps_nothing_to_run_with_and_is_approved_no_more,
    an_edited_call_takes_over_the_token_and_the_first_is_rejected,
    no_approved_call_of_a_task_that_was_taken_back_begins,
}

fn decision(call: Ulid, approver: &str, approved: bool, quorum: u32) -> NewDecision {
    NewDecision {
        call,
        decision: StoredDecision {
            approver: approver.to_owned(),
            approved,
            reason: None,
            binding: waiting_for(900).binding,
            at: now().to_string(),
        },
        quorum,
        at: now(),
        body: json!({"call": call}),
    }
}

async fn a_waiting_call_is_stored_with_all_that_it_waits_with(opened: &mut Opened) {
    let store = opened.store();
    let token = Ulid::generate();
    let task = issued(&*store, &[token]).await;
    let call = NewCall {
        sealed: Some(vec![1, 2, 3]),
        ..new_call(task, READ, Some(token))
    };
    let id = call.id;
    let waiting = waiting_for(900);
    assert_eq!(store.hold(call, waiting.clone()).await.unwrap(), None);
    drop(store);
    opened.reopen().await;
    let store = opened.store();
    let [stored] = &store.calls_in(State::Pending, 10).await.unwrap()[..] else {
        panic!("one call waits");
    };
    assert_eq!(
        (stored.id, stored.task_id, stored.state),
        (id, task, State::Pending)
    );
    let kept = stored.waiting.as_ref().unwrap();
    assert_eq!(stored.sealed.as_deref(), Some(&[1, 2, 3][..]));
    assert_eq!(kept.binding, waiting.binding);
    assert_eq!(kept.expires_at, waiting.expires_at);
    assert_eq!(stored.selection.as_ref().unwrap().token.id, token);
    assert!(
        store.selection(token, task).await.unwrap().is_none(),
        "it is spent"
    );
    // Another call cannot have it.
    let other = new_call(task, READ, Some(token));
    let refused = store.hold(other, waiting_for(900)).await.unwrap();
    assert_eq!(
        refused,
        Some(NotBegun::Refused(DenialReason::SelectionTokenInvalid))
    );
}

async fn an_approval_takes_a_call_on_and_a_second_one_does_not(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let call = held(&*store, task).await;
    let decided = store
        .decide(decision(call, "owner", true, 1))
        .await
        .unwrap();
    assert_eq!(decided, Decided::Stored(State::Approved));
    let before = verified(&*store).await;
    for approved in [true, false] {
        let again = store
            .decide(decision(call, "kim", approved, 1))
            .await
            .unwrap();
        assert_eq!(again, Decided::NotWaiting(State::Approved));
    }
    assert_eq!(
        verified(&*store).await,
        before,
        "nothing is recorded of what does not count"
    );
    assert_eq!(store.decisions(call).await.unwrap().len(), 1);
}

async fn two_of_a_quorum_have_to_approve_and_one_may_reject(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let [one, two] = [held(&*store, task).await, held(&*store, task).await];
    let decide =
        async |call, by, approved| store.decide(decision(call, by, approved, 2)).await.unwrap();
    assert_eq!(
        decide(one, "owner", true).await,
        Decided::Stored(State::Pending)
    );
    assert_eq!(decide(one, "owner", true).await, Decided::Twice);
    assert_eq!(
        decide(one, "kim", true).await,
        Decided::Stored(State::Approved)
    );
    assert_eq!(
        decide(two, "owner", true).await,
        Decided::Stored(State::Pending)
    );
    assert_eq!(
        decide(two, "kim", false).await,
        Decided::Stored(State::Rejected)
    );
    let kinds: Vec<_> = store.records_after(0, 100).await.unwrap();
    let kinds: Vec<_> = kinds.iter().map(|record| record.kind.as_str()).collect();
    assert_eq!(
        kinds[kinds.len() - 4..],
        [
            "call_endorsed",
            "call_approved",
            "call_endorsed",
            "call_rejected"
        ]
    );
}

async fn of_many_that_would_run_an_approved_call_one_does(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let call = held(&*store, task).await;
    store
        .decide(decision(call, "owner", true, 1))
        .await
        .unwrap();
    let mut tries = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let store = opened.store();
        tries.spawn(async move {
            let started = entry(Kind::CallStarted, json!({"call": call}));
            let started = store
                .start_approved(admitted(TAKE, None), call, started)
                .await;
            matches!(started.unwrap(), Started::Recorded(_))
        });
    }
    let begun = tries.join_all().await.into_iter().filter(|begun| *begun);
    assert_eq!(begun.count(), 1);
    assert_eq!(state(&*store, call).await.unwrap(), "running");
}

async fn a_step_is_taken_from_where_it_leads_on_or_not_at_all(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let call = held(&*store, task).await;
    let before = verified(&*store).await;
    let expired = || entry(Kind::CallExpired, json!({"call": call}));
    let refused = || entry(Kind::CallRefused, json!({"call": call}));
    // Not where it is.
    assert!(
        !store
            .step(call, State::Approved, "no", refused())
            .await
            .unwrap()
    );
    // No such step.
    assert!(
        store
            .step(call, State::Running, "no", expired())
            .await
            .is_err()
    );
    assert_eq!(verified(&*store).await, before);
    assert!(
        store
            .step(call, State::Pending, "over", expired())
            .await
            .unwrap()
    );
    let stored = store.call(call).await.unwrap().unwrap();
    assert_eq!(
        (stored.state, stored.reason.as_deref()),
        (State::Expired, Some("over"))
    );
    assert!(
        !store
            .step(call, State::Pending, "over", expired())
            .await
            .unwrap()
    );
    assert_eq!(verified(&*store).await.seq, before.seq + 1);
}

async fn a_call_that_is_taken_back_keeps_nothing_to_run_with_and_is_approved_no_more(
    opened: &mut Opened,
) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let call = NewCall {
        sealed: Some(vec![1, 2, 3]),
        ..new_call(task, READ, None)
    };
    let id = call.id;
    assert_eq!(store.hold(call, waiting_for(900)).await.unwrap(), None);
    let cancelled = entry(Kind::CallCancelled, json!({"call": id}));
    let taken_back = store.step(id, State::Pending, "withdrawn", cancelled).await;
    assert!(taken_back.unwrap());
    let stored = store.call(id).await.unwrap().unwrap();
    assert_eq!(
        (stored.state, stored.sealed, stored.reason.as_deref()),
        (State::Cancelled, None, Some("withdrawn"))
    );
    let late = store.decide(decision(id, "owner", true, 1)).await.unwrap();
    assert_eq!(late, Decided::NotWaiting(State::Cancelled));
}

async fn an_edited_call_takes_over_the_token_and_the_first_is_rejected(opened: &mut Opened) {
    let store = opened.store();
    let token = Ulid::generate();
    let task = issued(&*store, &[token]).await;
    let old = new_call(task, READ, Some(token));
    let old_id = old.id;
    assert_eq!(store.hold(old, waiting_for(900)).await.unwrap(), None);
    let edit = async || {
        let new = new_call(task, READ, Some(token));
        let id = new.id;
        let rejected = entry(Kind::CallRejected, json!({"call": old_id}));
        let waiting = Waiting {
            instead_of: Some((old_id, rejected)),
            ..waiting_for(900)
        };
        (id, store.hold(new, waiting).await.unwrap())
    };
    let (new, refused) = edit().await;
    assert_eq!(refused, None);
    let stored = store.call(old_id).await.unwrap().unwrap();
    assert_eq!(
        (stored.state, stored.superseded_by),
        (State::Rejected, Some(new))
    );
    // The place is taken, and so is the token.
    let (_, refused) = edit().await;
    assert_eq!(
        refused,
        Some(NotBegun::Refused(DenialReason::SelectionTokenInvalid))
    );
    assert_eq!(store.calls_in(State::Pending, 10).await.unwrap().len(), 1);
}

async fn no_approved_call_of_a_task_that_was_taken_back_begins(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let call = held(&*store, task).await;
    store
        .decide(decision(call, "owner", true, 1))
        .await
        .unwrap();
    let revoked = entry(Kind::GrantRevoked, json!({"task": task}));
    assert_eq!(store.revoke(task, revoked).await.unwrap(), [task]);
    let started = entry(Kind::CallStarted, json!({"call": call}));
    let started = store
        .start_approved(admitted(TAKE, None), call, started)
        .await;
    assert!(matches!(started.unwrap(), Started::Not(_)));
    assert_eq!(state(&*store, call).await.unwrap(), "approved");
}
