//! Tasks and their selection tokens.

use std::sync::Arc;

use actum::gate::DenialReason;
use actum_kernel::ledger::Kind;
use actum_kernel::store::{NotBegun, Outcome, Started};
use serde_json::json;
use ulid::Ulid;

use crate::backend::Opened;
use crate::fixture::{
    HASH, READ, TAKE, admitted, entry, finish, grant, issued, later, new_call, started, verified,
};

suite! {
    a_task_is_loaded_as_it_was_issued,
    a_task_is_revoked_once,
    a_selection_token_belongs_to_one_task_and_is_spent_once,
    concurrent_starts_spend_a_token_once,
    nothing_starts_after_the_task_was_taken_back,
}

async fn a_task_is_loaded_as_it_was_issued(opened: &mut Opened) {
    let store = opened.store();
    let token = Ulid::generate();
    let task = issued(&*store, &[token]).await;
    let stored = store.task(task).await.unwrap().unwrap();
    assert_eq!(stored.token_hash, HASH);
    assert_eq!(stored.grant, grant(task, &[token]));
    assert_eq!(stored.message.as_deref(), Some("Hello"));
    assert!(!stored.revoked);
    assert!(store.task(Ulid::generate()).await.unwrap().is_none());
    // The same catalog a second time is no conflict.
    issued(&*store, &[]).await;
}

async fn a_task_is_revoked_once(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    let other = issued(&*store, &[]).await;
    let revoke = |task| store.revoke(task, entry(Kind::GrantRevoked, json!({"task": task})));
    let none: [Ulid; 0] = [];
    assert_eq!(revoke(task).await.unwrap(), [task]);
    assert_eq!(revoke(task).await.unwrap(), none, "it was revoked before");
    let unknown = Ulid::generate();
    assert_eq!(revoke(unknown).await.unwrap(), none, "there is none");
    assert!(store.task(task).await.unwrap().unwrap().revoked);
    assert!(!store.task(other).await.unwrap().unwrap().revoked);
    assert_eq!(
        verified(&*store).await.seq,
        3,
        "one record for one revocation"
    );
}

async fn a_selection_token_belongs_to_one_task_and_is_spent_once(opened: &mut Opened) {
    let store = opened.store();
    let (token, other_token) = (Ulid::generate(), Ulid::generate());
    let task = issued(&*store, &[token, other_token]).await;
    let other_task = issued(&*store, &[]).await;

    let stored = store.selection(token, task).await.unwrap().unwrap();
    assert_eq!(stored.token.id, token);
    assert_eq!(stored.token.token_type, "note_selection");
    assert_eq!(stored.token.expires_at, later());
    assert_eq!(stored.target, "note 7");
    assert!(store.selection(token, other_task).await.unwrap().is_none());

    let start = async |task, token| {
        let call = new_call(task, READ, Some(token));
        let id = call.id;
        (
            id,
            store
                .start(admitted(READ, Some(token)), call)
                .await
                .unwrap(),
        )
    };
    // Another task cannot spend it, and does not use it up by trying.
    let (foreign, refused) = start(other_task, token).await;
    let invalid = DenialReason::SelectionTokenInvalid;
    assert!(matches!(refused, Started::Not(NotBegun::Refused(reason)) if reason == invalid));
    assert!(store.call(foreign).await.unwrap().is_none());

    assert!(matches!(start(task, token).await.1, Started::Recorded(_)));
    assert!(store.selection(token, task).await.unwrap().is_none());
    let before = verified(&*store).await;
    let (again, refused) = start(task, token).await;
    assert!(matches!(refused, Started::Not(NotBegun::Refused(reason)) if reason == invalid));
    assert!(store.call(again).await.unwrap().is_none());
    assert_eq!(
        verified(&*store).await,
        before,
        "a refused start changes nothing"
    );
    assert!(store.selection(other_token, task).await.unwrap().is_some());
}

async fn concurrent_starts_spend_a_token_once(opened: &mut Opened) {
    let store = opened.store();
    let token = Ulid::generate();
    let task = issued(&*store, &[token]).await;
    let racers: Vec<_> = (0..16)
        .map(|_| {
            let store = Arc::clone(&store);
            let (admitted, call) = (
                admitted(READ, Some(token)),
                new_call(task, READ, Some(token)),
            );
            tokio::spawn(async move { store.start(admitted, call).await.unwrap() })
        })
        .collect();
    let mut won = 0;
    for racer in racers {
        match racer.await.unwrap() {
            Started::Recorded(_) => won += 1,
            Started::Not(why) => {
                assert_eq!(why, NotBegun::Refused(DenialReason::SelectionTokenInvalid))
            }
        }
    }
    assert_eq!(won, 1);
    assert_eq!(store.counts().await.unwrap().calls, 1);
}

async fn nothing_starts_after_the_task_was_taken_back(opened: &mut Opened) {
    let store = opened.store();
    let token = Ulid::generate();
    let task = issued(&*store, &[token]).await;
    let running = started(&*store, task).await;
    // The gate allowed these before the task was taken back.
    let late = (
        admitted(READ, Some(token)),
        new_call(task, READ, Some(token)),
    );
    let revoked = entry(Kind::GrantRevoked, json!({"task": task}));
    assert_eq!(store.revoke(task, revoked).await.unwrap(), [task]);
    let before = verified(&*store).await;

    let id = late.1.id;
    let refused = store.start(late.0, late.1).await.unwrap();
    assert!(matches!(
        refused,
        Started::Not(NotBegun::Refused(DenialReason::GrantExpired))
    ));
    assert!(store.call(id).await.unwrap().is_none());
    assert!(
        store.selection(token, task).await.unwrap().is_some(),
        "unspent"
    );
    assert_eq!(verified(&*store).await, before);

    // Nor does anything start of a task that never was.
    let nobodys = new_call(Ulid::generate(), TAKE, None);
    let refused = store.start(admitted(TAKE, None), nobodys).await.unwrap();
    assert!(matches!(refused, Started::Not(_)));

    // What was running by then ends as it ends.
    finish(&*store, running, Outcome::Failed("operation_failed"))
        .await
        .unwrap();
}
