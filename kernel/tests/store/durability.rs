//! What is there after a stop, and what is not there without its record.

use actum_kernel::ledger::Kind;
use actum_kernel::store::Outcome;
use serde_json::json;
use ulid::Ulid;

use crate::backend::Opened;
use crate::fixture::{
    READ, admitted, entry, finish, grant, issued, mark_interrupted, new_call, now, started, state,
    try_issue, verified, waiting_for,
};

suite! {
    what_was_stored_is_there_after_reopening_and_the_chain_goes_on,
    nothing_changes_when_its_record_cannot_be_written,
    audit_rows_can_be_added_at_the_end_and_nothing_else,
}

async fn what_was_stored_is_there_after_reopening_and_the_chain_goes_on(opened: &mut Opened) {
    let store = opened.store();
    let token = Ulid::generate();
    let task = issued(&*store, &[token]).await;
    let call = started(&*store, task).await;
    store
        .post_message(task, "visitor", "hello", now())
        .await
        .unwrap();
    let before = verified(&*store).await;
    drop(store);
    opened.reopen().await;

    let store = opened.store();
    assert_eq!(verified(&*store).await, before);
    assert_eq!(
        store.task(task).await.unwrap().unwrap().grant,
        grant(task, &[token])
    );
    assert!(store.selection(token, task).await.unwrap().is_some());
    assert_eq!(store.messages_after(0, 9).await.unwrap().len(), 1);
    // The one that began it is gone, and nobody knows what became of it.
    assert_eq!(mark_interrupted(&*store).await.unwrap(), 1);
    assert_eq!(state(&*store, call).await.unwrap(), "outcome_unknown");
    assert_eq!(verified(&*store).await.seq, before.seq + 1);
}

async fn nothing_changes_when_its_record_cannot_be_written(opened: &mut Opened) {
    let store = opened.store();
    let token = Ulid::generate();
    let task = issued(&*store, &[token]).await;
    started(&*store, task).await;
    drop(store);
    opened.reopen().await;

    let store = opened.store();
    let running = started(&*store, task).await;
    let before = verified(&*store).await;
    let counts = store.counts().await.unwrap();
    opened
        .sql(
            "CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END",
            "CREATE FUNCTION refuse_all() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full'; END $$;
             CREATE TRIGGER is_full BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION refuse_all()",
        )
        .await
        .unwrap();
    let new_task = Ulid::generate();
    assert!(try_issue(&*store, new_task, &[]).await.is_err());
    let revoked = entry(Kind::GrantRevoked, json!({}));
    assert!(store.revoke(task, revoked).await.is_err());
    let call = new_call(task, READ, Some(token));
    let start = store.start(admitted(READ, Some(token)), call.clone());
    assert!(start.await.is_err());
    assert!(store.hold(call.clone(), waiting_for(900)).await.is_err());
    assert!(mark_interrupted(&*store).await.is_err());
    assert!(
        finish(&*store, running, Outcome::Failed("operation_failed"))
            .await
            .is_err()
    );

    assert!(store.task(new_task).await.unwrap().is_none());
    assert!(!store.task(task).await.unwrap().unwrap().revoked);
    assert!(store.selection(token, task).await.unwrap().is_some());
    assert!(store.call(call.id).await.unwrap().is_none());
    assert_eq!(state(&*store, running).await.unwrap(), "running");
    let after = store.counts().await.unwrap();
    assert_eq!((after.tasks, after.calls), (counts.tasks, counts.calls));

    let emptied = "DROP TRIGGER is_full ON audit";
    opened.sql("DROP TRIGGER full", emptied).await.unwrap();
    assert_eq!(verified(&*store).await, before);
    finish(&*store, running, Outcome::Failed("operation_failed"))
        .await
        .unwrap();
    assert_eq!(verified(&*store).await.seq, before.seq + 1);
}

async fn audit_rows_can_be_added_at_the_end_and_nothing_else(opened: &mut Opened) {
    let store = opened.store();
    for n in 1..=5 {
        let refused = entry(Kind::CallRefused, json!({"n": n}));
        store.record(refused).await.unwrap();
    }
    let before = verified(&*store).await;
    let both = [
        "UPDATE audit SET body = '{}' WHERE seq = 3",
        "UPDATE audit SET seq = 9 WHERE seq = 5",
        "DELETE FROM audit WHERE seq = 3",
        "DELETE FROM audit",
        "INSERT INTO audit VALUES (0, 'a', 'b', 'c', 'd', 'e')",
        "INSERT INTO audit VALUES (9, 'a', 'b', 'c', 'd', 'e')",
    ]
    .map(|text| (text, text));
    let own = [
        (
            "REPLACE INTO audit SELECT seq, at, kind, '{}', prev, digest FROM audit WHERE seq = 3",
            "TRUNCATE audit",
        ),
        (
            "INSERT OR REPLACE INTO audit SELECT 5, at, kind, '{}', prev, digest FROM audit WHERE seq = 5",
            "INSERT INTO audit SELECT 5, at, kind, '{}', prev, digest FROM audit WHERE seq = 5
             ON CONFLICT (seq) DO UPDATE SET body = '{}'",
        ),
    ];
    for (sqlite, postgres) in both.into_iter().chain(own) {
        let told = opened.sql(sqlite, postgres).await.expect_err(sqlite);
        assert!(told.to_string().contains("append-only"), "{sqlite}: {told}");
    }
    assert_eq!(verified(&*store).await, before);
}
