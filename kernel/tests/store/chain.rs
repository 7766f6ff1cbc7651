//! What every change leaves in the ledger.

use std::sync::Arc;

use actum::Confidential;
use actum::gate::DenialReason;
use actum_kernel::ledger::{Head, Kind};
use actum_kernel::store::{NewCall, NotBegun, Outcome, Store};
use jiff::Timestamp;
use serde_json::json;
use ulid::Ulid;

use crate::backend::Opened;
use crate::fixture::{
    READ, TAKE, admitted, entry, finish, held, issued, mark_interrupted, new_call, now, started,
    try_issue, verified, waiting_for,
};

suite! {
    counts_follow_what_was_stored,
    every_change_adds_its_record_and_the_chain_holds_after_each,
    a_change_that_fails_leaves_no_trace_and_the_chain_goes_on,
    a_change_that_was_given_up_is_done_or_not_and_the_chain_goes_on,
    concurrent_writers_make_one_chain,
}

async fn counts_follow_what_was_stored(opened: &mut Opened) {
    let store = opened.store();
    let all = async || {
        let counts = store.counts().await.unwrap();
        (counts.tasks, counts.calls, counts.records)
    };
    assert_eq!(all().await, (0, 0, 0));
    let task = issued(&*store, &[]).await;
    assert_eq!(all().await, (1, 0, 1));
    let call = started(&*store, task).await;
    held(&*store, task).await;
    assert_eq!(all().await, (1, 2, 3));
    finish(&*store, call, Outcome::Failed("operation_failed"))
        .await
        .unwrap();
    assert_eq!(all().await, (1, 2, 4));
}

async fn every_change_adds_its_record_and_the_chain_holds_after_each(opened: &mut Opened) {
    let store = opened.store();
    let mut expected = Vec::new();
    let mut check = async |store: &dyn Store, kind: &str| {
        expected.push(kind.to_owned());
        let end = verified(store).await;
        let records = store.records_after(0, 100).await.unwrap();
        let kinds: Vec<_> = records.iter().map(|record| record.kind.clone()).collect();
        assert_eq!(kinds, expected);
        let last = records.last().unwrap();
        assert_eq!((last.seq, last.digest), (end.seq, end.digest));
        assert_eq!(last.at.parse::<Timestamp>().unwrap(), now());
    };
    assert_eq!(verified(&*store).await, Head::empty());
    let started_at = entry(Kind::KernelStarted, json!({"version": "1"}));
    store.record(started_at).await.unwrap();
    check(&*store, "kernel_started").await;
    let task = issued(&*store, &[]).await;
    check(&*store, "grant_issued").await;
    let call = started(&*store, task).await;
    check(&*store, "call_started").await;
    finish(
        &*store,
        call,
        Outcome::Succeeded(Confidential::of(&json!(1)).unwrap()),
    )
    .await
    .unwrap();
    check(&*store, "call_succeeded").await;
    let mut waiting = new_call(task, TAKE, None);
    waiting.entry.kind = Kind::CallPending;
    let refused = store.hold(waiting, waiting_for(900)).await.unwrap();
    assert_eq!(refused, None);
    check(&*store, "call_pending").await;
    started(&*store, task).await;
    check(&*store, "call_started").await;
    drop(store);
    opened.reopen().await;
    let store = opened.store();
    mark_interrupted(&*store).await.unwrap();
    check(&*store, "call_outcome_unknown").await;
    store
        .revoke(task, entry(Kind::GrantRevoked, json!({})))
        .await
        .unwrap();
    check(&*store, "grant_revoked").await;
}

async fn a_change_that_fails_leaves_no_trace_and_the_chain_goes_on(opened: &mut Opened) {
    let store = opened.store();
    let (token, unspent) = (Ulid::generate(), Ulid::generate());
    let task = issued(&*store, &[token]).await;
    let taken = started(&*store, task).await;
    let before = (verified(&*store).await, store.counts().await.unwrap());

    // An id that is taken, after which a token would be spent and a record written.
    let again = NewCall {
        id: taken,
        ..new_call(task, READ, Some(token))
    };
    let start = store.start(admitted(READ, Some(token)), again.clone());
    assert!(start.await.is_err());
    assert!(store.hold(again, waiting_for(900)).await.is_err());
    assert!(store.selection(token, task).await.unwrap().is_some());
    // A call of a task that never was.
    let nobodys = new_call(Ulid::generate(), TAKE, None);
    let refused = store.hold(nobodys, waiting_for(900)).await.unwrap();
    assert_eq!(refused, Some(NotBegun::Refused(DenialReason::GrantExpired)));
    // A task whose last selection token's id is taken.
    let other = Ulid::generate();
    assert!(try_issue(&*store, other, &[unspent, token]).await.is_err());
    assert!(store.task(other).await.unwrap().is_none());
    assert!(store.selection(unspent, other).await.unwrap().is_none());
    assert!(try_issue(&*store, task, &[]).await.is_err());

    let after = store.counts().await.unwrap();
    assert_eq!(verified(&*store).await, before.0);
    assert_eq!((after.tasks, after.calls), (before.1.tasks, before.1.calls));
    finish(&*store, taken, Outcome::Failed("operation_failed"))
        .await
        .unwrap();
    assert_eq!(verified(&*store).await.seq, before.0.seq + 1);
}

/// Whoever asked may go away at any moment: a request that took too long, a connection that closed.
/// The database can be in the middle of the commit then.
async fn a_change_that_was_given_up_is_done_or_not_and_the_chain_goes_on(opened: &mut Opened) {
    let store = opened.store();
    const STEPS: usize = 60;
    let task = issued(&*store, &[]).await;
    let operation = async || {
        let body = json!({"task": task});
        store.record(entry(Kind::CallRefused, body)).await.unwrap();
    };
    // How often a whole operation is polled tells where it can be given up.
    let mut whole = 0usize;
    tokio::select! {
        biased;
        () = operation() => {}
        () = async { loop { whole += 1; tokio::task::yield_now().await } } => {}
    }
    for step in 0..=STEPS {
        let before = verified(&*store).await.seq;
        let patience = async {
            for _ in 0..whole * step / STEPS {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            () = operation() => {}
            () = patience => {}
        }
        operation().await;
        let after = verified(&*store).await.seq;
        assert!(
            (before + 1..=before + 2).contains(&after),
            "{before} to {after}"
        );
    }
}

async fn concurrent_writers_make_one_chain(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let writers: Vec<_> = (0..24)
        .map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                match n % 3 {
                    0 => {
                        held(&*store, task).await;
                    }
                    1 => {
                        let call = started(&*store, task).await;
                        finish(&*store, call, Outcome::Failed("operation_failed"))
                            .await
                            .unwrap();
                    }
                    _ => {
                        let refused = entry(Kind::CallRefused, json!({"n": n}));
                        store.record(refused).await.unwrap();
                    }
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(verified(&*store).await.seq, 1 + 8 + 16 + 8);
}
