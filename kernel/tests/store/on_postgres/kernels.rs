//! Kernels that share a store: who is alive, and whose calls are cut off.

use actum_kernel::ledger::Kind;
use actum_kernel::store::{Outcome, Store};
use serde_json::json;
use sqlx::Row;
use ulid::Ulid;

use super::open;
use crate::database::Database;
use crate::fixture::{entry, finish, issued, now, started, state, verified};

#[tokio::test]
async fn calls_of_a_kernel_that_is_alive_are_let_be_until_it_is_silent_for_a_minute() {
    let Some(database) = Database::new().await else {
        return;
    };
    let (one, other) = (open(&database).await, open(&database).await);
    let task = issued(&one, &[]).await;
    let call = started(&one, task).await;
    assert_eq!(one.mark_interrupted(now()).await.unwrap(), 0, "its own");
    assert_eq!(other.mark_interrupted(now()).await.unwrap(), 0);
    assert_eq!(state(&other, call).await.unwrap(), "running");

    let seen = |ago: &str| {
        let kernel = one.kernel();
        format!("UPDATE kernels SET seen_at = now() - interval '{ago}' WHERE id = '{kernel}'")
    };
    assert_eq!(database.sql(&seen("50 seconds")).await.unwrap(), 1);
    assert_eq!(other.mark_interrupted(now()).await.unwrap(), 0);
    assert_eq!(database.sql(&seen("70 seconds")).await.unwrap(), 1);
    // The server was not there for that long: it may be why nothing was heard.
    let uptime = "SELECT now() - pg_postmaster_start_time() > interval '1 minute' AS long";
    let mut other_program = database.connect().await;
    let row = sqlx::query(uptime).fetch_one(&mut other_program).await;
    let long: bool = row.unwrap().get("long");
    let marked = other.mark_interrupted(now()).await.unwrap();
    assert_eq!(marked, usize::from(long));
    verified(&other).await;

    let registered = format!("SELECT FROM kernels WHERE id = '{}'", one.kernel());
    let registered = database.sql(&registered).await.unwrap();
    assert_eq!(registered, u64::from(!long), "forgotten with its calls");
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
    assert_eq!(other.mark_interrupted(now()).await.unwrap(), 1);
    assert_eq!(state(&other, goes_on).await.unwrap(), "running");
    assert_eq!(state(&other, call).await.unwrap(), "outcome_unknown");
    verified(&other).await;
}

/// This takes as long as a kernel's beat.
#[tokio::test]
async fn a_kernel_says_again_that_it_is_alive_and_marks_what_others_left_by_itself() {
    let Some(database) = Database::new().await else {
        return;
    };
    let (one, other) = (open(&database).await, open(&database).await);
    let task = issued(&one, &[]).await;
    let call = started(&one, task).await;
    one.close().await;
    let (kernel, ago) = (other.kernel(), "now() - interval '40 seconds'");
    let silent = format!("UPDATE kernels SET seen_at = {ago} WHERE id = '{kernel}'");
    assert_eq!(database.sql(&silent).await.unwrap(), 1);
    let heard = format!(
        "SELECT FROM kernels WHERE id = '{kernel}' AND seen_at > {ago} + interval '5 seconds'"
    );
    let mut asked = 0;
    while database.sql(&heard).await.unwrap() == 0
        || state(&other, call).await.unwrap() != "outcome_unknown"
    {
        asked += 1;
        assert!(asked < 80, "nothing was heard of it");
        // The server waits, as it were, so that this test does not keep it busy.
        database.sql("SELECT pg_sleep(0.2)").await.unwrap();
    }
    verified(&other).await;
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
async fn a_call_whose_end_could_not_be_stored_is_marked_though_its_kernel_lives() {
    let Some(database) = Database::new().await else {
        return;
    };
    let store = open(&database).await;
    let task = issued(&store, &[]).await;
    let (lost, running) = (started(&store, task).await, started(&store, task).await);
    let full = "ALTER TABLE audit ADD CONSTRAINT is_full CHECK (kind <> 'call_failed') NOT VALID";
    database.sql(full).await.unwrap();
    assert!(
        finish(&store, lost, Outcome::Failed("operation_failed"))
            .await
            .is_err()
    );
    assert_eq!(store.mark_interrupted(now()).await.unwrap(), 1);
    assert_eq!(state(&store, lost).await.unwrap(), "outcome_unknown");
    assert_eq!(state(&store, running).await.unwrap(), "running");
    verified(&store).await;
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
