//! Idempotency keys: under each of them a task has one call.

use std::sync::Arc;

use actum::Digest;
use actum_kernel::replay::Keyed;
use actum_kernel::store::{NewCall, NotBegun, Started};
use ulid::Ulid;

use crate::backend::Opened;
use crate::fixture::{TAKE, admitted, issued, new_call, state, verified, waiting_for};

suite!(
    a_task_has_one_call_under_a_key,
    of_calls_that_come_at_once_under_a_key_one_begins,
    a_key_is_read_back_after_a_restart,
);

fn keyed(key: &str, asked: &str) -> Keyed {
    let [key, asked] = [key, asked].map(|text| Digest::of_bytes(text.as_bytes()));
    Keyed { key, asked }
}

fn call_with(task: Ulid, key: &str) -> NewCall {
    NewCall {
        keyed: Some(keyed(key, "this")),
        ..new_call(task, TAKE, None)
    }
}

async fn a_task_has_one_call_under_a_key(opened: &mut Opened) {
    let store = opened.store();
    let (task, other_task) = (issued(&*store, &[]).await, issued(&*store, &[]).await);
    let first = call_with(task, "k");
    let id = first.id;
    let started = store.start(admitted(TAKE, None), first).await.unwrap();
    assert!(matches!(started, Started::Recorded(_)));
    let before = verified(&*store).await;

    // Neither as one that runs nor as one that waits, and whatever else is asked.
    let again = call_with(task, "k");
    let again_id = again.id;
    let started = store.start(admitted(TAKE, None), again).await.unwrap();
    assert!(matches!(started, Started::Not(NotBegun::Again(first)) if first == id));
    let held = store.hold(call_with(task, "k"), waiting_for(900)).await;
    assert_eq!(held.unwrap(), Some(NotBegun::Again(id)));
    assert_eq!(state(&*store, again_id).await, None);
    assert_eq!(verified(&*store).await, before, "nothing was changed");

    // Another key, another task and no key are other calls.
    let other_key = store.hold(call_with(task, "l"), waiting_for(900)).await;
    assert_eq!(other_key.unwrap(), None);
    let held = store
        .hold(call_with(other_task, "k"), waiting_for(900))
        .await;
    assert_eq!(held.unwrap(), None);
    let without = new_call(task, TAKE, None);
    assert_eq!(store.hold(without, waiting_for(900)).await.unwrap(), None);
}

async fn of_calls_that_come_at_once_under_a_key_one_begins(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let racers: Vec<_> = (0..16)
        .map(|_| {
            let store = Arc::clone(&store);
            let call = call_with(task, "k");
            let id = call.id;
            tokio::spawn(async move {
                let started = store.start(admitted(TAKE, None), call).await.unwrap();
                (id, started)
            })
        })
        .collect();
    let (mut won, mut told) = (Vec::new(), Vec::new());
    for racer in racers {
        match racer.await.unwrap() {
            (id, Started::Recorded(_)) => won.push(id),
            (_, Started::Not(NotBegun::Again(first))) => told.push(first),
            (_, Started::Not(refused)) => panic!("{refused:?}"),
        }
    }
    assert_eq!(won.len(), 1);
    assert_eq!(told, vec![won[0]; 15]);
    assert_eq!(store.counts().await.unwrap().calls, 1);
}

async fn a_key_is_read_back_after_a_restart(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let call = call_with(task, "k");
    let id = call.id;
    assert_eq!(store.hold(call, waiting_for(900)).await.unwrap(), None);
    drop(store);
    opened.reopen().await;
    let store = opened.store();
    let key = keyed("k", "").key;
    let found = store.call_of_key(task, key).await.unwrap().unwrap();
    assert_eq!((found.id, found.keyed), (id, Some(keyed("k", "this"))));
    let other = store.call_of_key(task, keyed("l", "").key).await.unwrap();
    assert!(other.is_none());
    assert!(store.call_of_key(id, key).await.unwrap().is_none());
}
