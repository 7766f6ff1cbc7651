//! Calls, from their beginning to their end.

use actum::Confidential;
use actum_kernel::store::Outcome;
use serde_json::json;
use std::collections::BTreeSet;
use ulid::Ulid;

use crate::backend::Opened;
use crate::fixture::{TAKE, finish, held, issued, mark_interrupted, started, state, verified};

suite! {
    a_held_call_is_pending_and_cannot_be_finished,
    a_call_is_finished_once_and_only_while_it_runs,
    calls_cut_off_are_marked_once_and_no_others,
    the_calls_of_an_action_are_told_newest_first_after_a_place_and_bounded,
}

async fn a_held_call_is_pending_and_cannot_be_finished(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let call = held(&*store, task).await;
    let stored = store.call(call).await.unwrap().unwrap();
    assert_eq!((stored.task_id, stored.action.as_str()), (task, TAKE));
    assert_eq!((stored.state.as_str(), stored.result), ("pending", None));
    let outcome = Outcome::Succeeded(Confidential::of(&json!({})).unwrap());
    assert!(finish(&*store, call, outcome).await.is_err());
    assert_eq!(state(&*store, call).await.unwrap(), "pending");
}

async fn the_calls_of_an_action_are_told_newest_first_after_a_place_and_bounded(
    opened: &mut Opened,
) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let mut calls = [held(&*store, task).await, started(&*store, task).await];
    calls.sort();
    let told = async |action: &str, after: Ulid, limit: i64| -> Vec<Ulid> {
        let found = store.calls_of(action, after, limit).await.unwrap();
        found.iter().map(|call| call.id).collect()
    };
    let [older, newer] = calls;
    assert_eq!(told(TAKE, Ulid::nil(), 10).await, [newer, older]);
    assert_eq!(told(TAKE, Ulid::nil(), 1).await, [newer]);
    assert_eq!(told(TAKE, older, 10).await, [newer]);
    assert!(told(TAKE, newer, 10).await.is_empty());
    assert!(told("other.action", Ulid::nil(), 10).await.is_empty());
}

async fn a_call_is_finished_once_and_only_while_it_runs(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let ends = [
        (
            Outcome::Succeeded(Confidential::of(&json!({"n": 1})).unwrap()),
            "succeeded",
            Some(json!({"n": 1})),
        ),
        (Outcome::Failed("operation_failed"), "failed", None),
        (Outcome::Unknown("panicked"), "outcome_unknown", None),
    ];
    for (outcome, word, result) in ends {
        let call = started(&*store, task).await;
        assert_eq!(state(&*store, call).await.unwrap(), "running");
        finish(&*store, call, outcome.clone()).await.unwrap();
        let before = verified(&*store).await;
        for again in [
            outcome,
            Outcome::Succeeded(Confidential::of(&json!("other")).unwrap()),
            Outcome::Unknown("panicked"),
        ] {
            assert!(finish(&*store, call, again).await.is_err());
        }
        let stored = store.call(call).await.unwrap().unwrap();
        assert_eq!((stored.state.as_str(), stored.result), (word, result));
        assert_eq!(verified(&*store).await, before);
    }
    let nothing = Ulid::generate();
    assert!(
        finish(&*store, nothing, Outcome::Failed("operation_failed"))
            .await
            .is_err()
    );
}

async fn calls_cut_off_are_marked_once_and_no_others(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let cut_off = [started(&*store, task).await, started(&*store, task).await];
    let done = started(&*store, task).await;
    finish(
        &*store,
        done,
        Outcome::Succeeded(Confidential::of(&json!(1)).unwrap()),
    )
    .await
    .unwrap();
    let waiting = held(&*store, task).await;
    let before = verified(&*store).await.seq;

    drop(store);
    opened.reopen().await;
    let store = opened.store();
    assert_eq!(mark_interrupted(&*store).await.unwrap(), 2);
    for call in cut_off {
        assert_eq!(state(&*store, call).await.unwrap(), "outcome_unknown");
    }
    assert_eq!(state(&*store, done).await.unwrap(), "succeeded");
    assert_eq!(state(&*store, waiting).await.unwrap(), "pending");

    let records = store.records_after(before, 10).await.unwrap();
    assert!(
        records
            .iter()
            .all(|record| record.kind == "call_outcome_unknown")
    );
    let named: BTreeSet<_> = records
        .iter()
        .map(|record| record.body["call"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(named, cut_off.iter().map(Ulid::to_string).collect());

    assert_eq!(mark_interrupted(&*store).await.unwrap(), 0);
    assert_eq!(verified(&*store).await.seq, before + 2);
}
