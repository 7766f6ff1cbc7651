//! Calls that were cut off: who takes them over, how often, and who settles what nobody knows.

use actum_kernel::calls::{MOST_RESUMPTIONS, State};
use actum_kernel::ledger::Kind;
use actum_kernel::store::{NewCall, Outcome, Started, Store};
use serde_json::json;
use ulid::Ulid;

use crate::backend::Opened;
use crate::fixture::{TAKE, admitted, entry, finish, issued, new_call, started, state, verified};

suite! {
    of_many_that_would_resume_a_call_one_does,
    a_call_that_somebody_runs_is_not_cut_off_and_nobody_takes_it,
    a_call_is_resumed_so_often_and_no_more,
    no_call_of_a_task_that_was_taken_back_is_resumed,
    sealed_arguments_are_there_until_the_call_ends,
    a_call_whose_end_cannot_be_stored_is_cut_off_though_its_kernel_lives,
    an_unknown_outcome_is_settled_once_with_its_record,
}

async fn resumes(store: &dyn Store, call: Ulid) -> bool {
    let record = entry(Kind::CallResumed, json!({"call": call}));
    let resumed = store.resume(admitted(TAKE, None), call, record).await;
    matches!(resumed.unwrap(), Started::Recorded(_))
}

async fn cut_off(store: &dyn Store) -> Vec<Ulid> {
    let calls = store.cut_off(100).await.unwrap();
    calls.into_iter().map(|call| call.id).collect()
}

async fn of_many_that_would_resume_a_call_one_does(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let call = started(&*store, task).await;
    drop(store);
    opened.reopen().await;
    let store = opened.store();
    assert_eq!(cut_off(&*store).await, [call]);
    let before = verified(&*store).await.seq;
    let mut tries = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let store = opened.store();
        tries.spawn(async move { resumes(&*store, call).await });
    }
    let resumed = tries.join_all().await.into_iter().filter(|one| *one);
    assert_eq!(resumed.count(), 1);
    let stored = store.call(call).await.unwrap().unwrap();
    assert_eq!((stored.state, stored.resumptions), (State::Running, 1));
    assert!(cut_off(&*store).await.is_empty());
    let records = store.records_after(before, 9).await.unwrap();
    assert_eq!(
        records.len(),
        1,
        "nothing is recorded of those who were late"
    );
    assert_eq!(records[0].kind, "call_resumed");
    finish(&*store, call, Outcome::Failed("operation_failed"))
        .await
        .unwrap();
}

async fn a_call_that_somebody_runs_is_not_cut_off_and_nobody_takes_it(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let call = started(&*store, task).await;
    let before = verified(&*store).await;
    assert!(cut_off(&*store).await.is_empty());
    assert!(!resumes(&*store, call).await);
    let unknown = entry(Kind::CallOutcomeUnknown, json!({"call": call}));
    assert!(!store.give_up(call, "interrupted", unknown).await.unwrap());
    assert_eq!(verified(&*store).await, before);
    finish(&*store, call, Outcome::Failed("operation_failed"))
        .await
        .unwrap();
    assert!(!resumes(&*store, call).await, "it has ended");
}

async fn a_call_is_resumed_so_often_and_no_more(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let call = started(&*store, task).await;
    drop(store);
    for _ in 0..MOST_RESUMPTIONS {
        opened.reopen().await;
        assert!(resumes(&*opened.store(), call).await);
    }
    opened.reopen().await;
    let store = opened.store();
    assert!(!resumes(&*store, call).await);
    let stored = store.call(call).await.unwrap().unwrap();
    assert_eq!(stored.resumptions, MOST_RESUMPTIONS);
    let unknown = entry(Kind::CallOutcomeUnknown, json!({"call": call}));
    assert!(
        store
            .give_up(call, "resumed_too_often", unknown)
            .await
            .unwrap()
    );
    let stored = store.call(call).await.unwrap().unwrap();
    assert_eq!(stored.reason.as_deref(), Some("resumed_too_often"));
}

async fn no_call_of_a_task_that_was_taken_back_is_resumed(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let call = started(&*store, task).await;
    let revoked = entry(Kind::GrantRevoked, json!({"task": task}));
    assert_eq!(store.revoke(task, revoked).await.unwrap(), [task]);
    drop(store);
    opened.reopen().await;
    let store = opened.store();
    assert!(!resumes(&*store, call).await);
    assert_eq!(cut_off(&*store).await, [call], "it is there to be given up");
}

async fn sealed_arguments_are_there_until_the_call_ends(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let new = NewCall {
        sealed: Some(vec![4, 7, 1, 1]),
        ..new_call(task, TAKE, None)
    };
    let call = new.id;
    store.start(admitted(TAKE, None), new).await.unwrap();
    drop(store);
    opened.reopen().await;
    let store = opened.store();
    let sealed = async || store.call(call).await.unwrap().unwrap().sealed;
    assert_eq!(sealed().await, Some(vec![4, 7, 1, 1]));
    assert!(resumes(&*store, call).await);
    assert_eq!(sealed().await, Some(vec![4, 7, 1, 1]));
    finish(&*store, call, Outcome::Unknown("panicked"))
        .await
        .unwrap();
    assert_eq!(sealed().await, None);
}

async fn a_call_whose_end_cannot_be_stored_is_cut_off_though_its_kernel_lives(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let (lost, running) = (started(&*store, task).await, started(&*store, task).await);
    opened
        .sql(
            "CREATE TRIGGER full BEFORE INSERT ON audit WHEN NEW.kind = 'call_failed'
             BEGIN SELECT RAISE(ABORT, 'full'); END",
            "ALTER TABLE audit ADD CONSTRAINT is_full CHECK (kind <> 'call_failed') NOT VALID",
        )
        .await
        .unwrap();
    assert!(
        finish(&*store, lost, Outcome::Failed("operation_failed"))
            .await
            .is_err()
    );
    assert_eq!(cut_off(&*store).await, [lost]);
    assert!(resumes(&*store, lost).await);
    assert_eq!(state(&*store, running).await.unwrap(), "running");
}

async fn an_unknown_outcome_is_settled_once_with_its_record(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let settle = async |call, kind| {
        let record = entry(kind, json!({"call": call, "by": "owner"}));
        let unknown = State::OutcomeUnknown;
        store
            .step(call, unknown, "it is there", record)
            .await
            .unwrap()
    };
    let (yes, no) = (Kind::CallSettledSucceeded, Kind::CallSettledFailed);
    for (kind, other, state) in [(yes, no, State::Succeeded), (no, yes, State::Failed)] {
        let call = started(&*store, task).await;
        assert!(!settle(call, kind).await, "it runs");
        finish(&*store, call, Outcome::Unknown("timed_out"))
            .await
            .unwrap();
        let before = verified(&*store).await.seq;
        assert!(settle(call, kind).await);
        assert!(!settle(call, other).await && !settle(call, kind).await);
        let stored = store.call(call).await.unwrap().unwrap();
        assert_eq!((stored.state, stored.result), (state, None));
        assert_eq!(stored.reason.as_deref(), Some("it is there"));
        let records = store.records_after(before, 9).await.unwrap();
        let kinds: Vec<&str> = records.iter().map(|record| &*record.kind).collect();
        assert_eq!(kinds, [kind.as_str()]);
    }
}
