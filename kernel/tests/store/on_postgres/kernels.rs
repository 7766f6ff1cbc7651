//! Kernels that share a store: who is alive, and whose calls are cut off.

use actum_kernel::ledger::Kind;
use actum_kernel::store::{Outcome, PostgresStore, Started, Store};
use serde_json::json;
use sqlx::Row;
use ulid::Ulid;

use super::open;
use crate::database::Database;
use crate::fixture::{
    TAKE, admitted, entry, finish, issued, mark_interrupted, started, state, verified,
};

#[tokio::test]
async fn calls_of_a_kernel_that_is_alive_are_let_be_until_it_is_silent_for_a_minute() {
    let Some(database) = Database::new().await else {
        return;
    };
    let (one, other) = (open(&database).await, open(&database).await);
    let task = issued(&one, &[]).await;
    let call = started(&one, task).await;
    assert_eq!(mark_interrupted(&one).await.unwrap(), 0, "its own");
    assert_eq!(mark_interrupted(&other).await.unwrap(), 0);
    assert_eq!(state(&other, call).await.unwrap(), "running");

    let seen = |ago: &str| {
        let kernel = one.kernel();
        format!("UPDATE kernels SET seen_at = now() - interval '{ago}' WHERE id = '{kernel}'")
    };
    assert_eq!(database.sql(&seen("50 seconds")).await.unwrap(), 1);
    assert_eq!(mark_interrupted(&other).await.unwrap(), 0);
    assert_eq!(database.sql(&seen("70 seconds")).await.unwrap(), 1);
    // The server was not there for that long: it may be why nothing was heard.
    let uptime = "SELECT now() - pg_postmaster_start_time() > interval '1 minute' AS long";
    let mut other_program = database.connect().await;
    let row = sqlx::query(uptime).fetch_one(&mut other_program).await;
    let long: bool = row.unwrap().get("long");
    let marked = mark_interrupted(&other).await.unwrap();
    assert_eq!(marked, usize::from(long));
    verified(&other).await;
}

#[tokio::test]
async fn calls_of_a_kernel_that_signed_off_are_marked_at_once() {
    let Some(database) = Database::new().await else {
        return;
    };
    let (one, other) = (open(&database).await, open(&database).await);
    let third = open(&database).await;
    let task = issued(&one, &[]).await;
    let (call, goes_on) = (started(&one, task).await, started(&third, task).await);
    one.close().await;
    assert_eq!(mark_interrupted(&other).await.unwrap(), 1);
    assert_eq!(state(&other, goes_on).await.unwrap(), "running");
    assert_eq!(state(&other, call).await.unwrap(), "outcome_unknown");
    verified(&other).await;
}

/// This takes as long as a kernel's beat.
#[tokio::test]
async fn a_kernel_says_again_that_it_is_alive_and_forgets_those_who_do_not() {
    let Some(database) = Database::new().await else {
        return;
    };
    let store = open(&database).await;
    let (kernel, ago) = (store.kernel(), "now() - interval '40 seconds'");
    let silent = format!("UPDATE kernels SET seen_at = {ago} WHERE id = '{kernel}'");
    assert_eq!(database.sql(&silent).await.unwrap(), 1);
    // One that was never heard of, as far as the database's own start lets that be told.
    let gone = "INSERT INTO kernels (id, seen_at) VALUES ('GONE', now() - interval '1 hour')";
    database.sql(gone).await.unwrap();
    let heard = format!(
        "SELECT FROM kernels WHERE id = '{kernel}' AND seen_at > {ago} + interval '5 seconds'
             AND (pg_postmaster_start_time() > now() - interval '2 minutes'
                  OR NOT EXISTS (SELECT FROM kernels WHERE id = 'GONE'))"
    );
    let mut asked = 0;
    while database.sql(&heard).await.unwrap() == 0 {
        asked += 1;
        assert!(asked < 80, "nothing was heard of it");
        // The server waits, as it were, so that this test does not keep it busy.
        database.sql("SELECT pg_sleep(0.2)").await.unwrap();
    }
}

#[tokio::test]
async fn a_kernel_that_lost_its_call_to_another_one_cannot_end_it() {
    let Some(database) = Database::new().await else {
        return;
    };
    let (one, other) = (open(&database).await, open(&database).await);
    let task = issued(&one, &[]).await;
    let call = started(&one, task).await;
    let resume = async |store: &PostgresStore| {
        let record = entry(Kind::CallResumed, json!({"call": call}));
        let resumed = store.resume(admitted(TAKE, None), call, record).await;
        matches!(resumed.unwrap(), Started::Recorded(_))
    };
    assert!(!resume(&other).await, "its kernel is alive");
    // It was silent for too long, and goes on all the same.
    let silent = format!("DELETE FROM kernels WHERE id = '{}'", one.kernel());
    assert_eq!(database.sql(&silent).await.unwrap(), 1);
    assert!(resume(&other).await);
    let before = verified(&other).await;
    assert!(
        finish(&one, call, Outcome::Failed("operation_failed"))
            .await
            .is_err()
    );
    assert_eq!(verified(&other).await, before);
    assert!(!resume(&one).await, "it is the other one's now");
    finish(&other, call, Outcome::Failed("operation_failed"))
        .await
        .unwrap();
    assert_eq!(state(&one, call).await.unwrap(), "failed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_records_of_kernels_that_write_at_once_are_one_chain() {
    const EACH: usize = 40;
    let Some(database) = Database::new().await else {
        return;
    };
    let all_there = tokio::sync::Barrier::new(3);
    let write = async |kernel: &str| {
        let store = open(&database).await;
        // All of them are there before the first writes.
        all_there.wait().await;
        for n in 0..EACH {
            let body = json!({"kernel": kernel, "n": n});
            let refused = entry(Kind::CallRefused, body);
            store.record(refused).await.unwrap();
        }
    };
    tokio::join!(write("one"), write("two"), write("three"));
    let end = verified(&open(&database).await).await;
    assert_eq!(end.seq, i64::try_from(3 * EACH).unwrap());
}

#[tokio::test]
async fn a_task_taken_back_by_one_kernel_is_not_live_at_another() {
    let Some(database) = Database::new().await else {
        return;
    };
    let (one, other) = (open(&database).await, open(&database).await);
    let task = issued(&one, &[]).await;
    assert!(other.is_still_live(task).await.unwrap());
    let revoked = entry(Kind::GrantRevoked, json!({}));
    assert_eq!(one.revoke(task, revoked).await.unwrap(), [task]);
    assert!(!other.is_still_live(task).await.unwrap());
    assert!(!other.is_still_live(Ulid::generate()).await.unwrap());
}
