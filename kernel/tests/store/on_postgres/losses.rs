//! Connections and servers that are lost, each at a moment that the test chooses.

use std::sync::Arc;
use std::time::Duration;

use actum_kernel::ledger::{Entry, Kind};
use actum_kernel::store::{Outcome, Store, StoreError};
use serde_json::json;
use sqlx::Row;

use super::open;
use crate::database::Database;
use crate::fixture::{
    TAKE, admitted, entry, finish, issued, mark_interrupted, new_call, now, started, state,
    verified,
};
use crate::server::Server;

fn refused(n: usize) -> Entry {
    entry(Kind::CallRefused, json!({"n": n}))
}

/// Whenever a record is written (`BEFORE INSERT`) or committed, this is done for the first `times`. What a sequence
/// counts is not rolled back.
async fn at_records(database: &Database, trigger: &str, times: usize, what: &str) {
    let text = format!(
        "CREATE SEQUENCE IF NOT EXISTS tries;
         CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF nextval('tries') <= {times} THEN {what}; END IF;
             RETURN NEW;
         END $$;
         {trigger} FOR EACH ROW EXECUTE FUNCTION spoil()"
    );
    database.sql(&text).await.unwrap();
}

const AT_WRITE: &str = "CREATE TRIGGER spoil BEFORE INSERT ON audit";
const AT_COMMIT: &str = "CREATE CONSTRAINT TRIGGER spoil AFTER INSERT ON audit INITIALLY DEFERRED";
const LOSE: &str = "PERFORM pg_terminate_backend(pg_backend_pid())";

#[tokio::test]
async fn a_change_that_was_lost_before_its_commit_is_made_again_and_once() {
    for (trigger, what) in [
        (AT_WRITE, LOSE),
        (AT_COMMIT, LOSE),
        (AT_WRITE, "RAISE EXCEPTION 'again' USING ERRCODE = '40001'"),
        (AT_WRITE, "RAISE EXCEPTION 'again' USING ERRCODE = '40P01'"),
    ] {
        let Some(database) = Database::new().await else {
            return;
        };
        let store = open(&database).await;
        at_records(&database, trigger, 2, what).await;
        store.record(refused(1)).await.unwrap();
        assert_eq!(verified(&store).await.seq, 1, "{trigger}: {what}");
    }
}

#[tokio::test]
async fn a_change_that_is_lost_every_time_is_told_and_leaves_nothing() {
    for (trigger, what, tries) in [
        (AT_WRITE, LOSE, 3),
        (AT_COMMIT, LOSE, 3),
        // Not one that another try would mend.
        (AT_WRITE, "RAISE EXCEPTION 'never'", 1),
    ] {
        let Some(database) = Database::new().await else {
            return;
        };
        let store = open(&database).await;
        at_records(&database, trigger, 99, what).await;
        let error = store.record(refused(1)).await.unwrap_err();
        assert!(!matches!(error, StoreError::OutcomeUnknown(_)), "{error}");
        let row = sqlx::query("SELECT last_value FROM tries")
            .fetch_one(&mut database.connect().await)
            .await
            .unwrap();
        assert_eq!(row.get::<i64, _>("last_value"), tries, "{trigger}: {what}");
        assert_eq!(verified(&store).await.seq, 0);
    }
}

/// A server that commits and then waits for a standby that never comes: an answer can be lost then, and the commit not.
struct Waiting {
    server: Server,
    database: Database,
}

impl Waiting {
    async fn start() -> Option<Self> {
        let server = Server::start()?;
        let database = Database::on(server.url.clone()).await;
        Some(Self { server, database })
    }

    async fn wait_for_standby(&self, name: &str) {
        for text in [
            format!("ALTER SYSTEM SET synchronous_standby_names = '{name}'"),
            "SELECT pg_reload_conf()".to_owned(),
        ] {
            self.database.sql(&text).await.unwrap();
        }
    }

    /// Waits until something is committed and unanswered, and cuts its connection.
    async fn cut_the_answer(&self) {
        let cut =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        while self.database.sql(cut).await.unwrap() == 0 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_answer_was_lost_is_asked_about_and_not_made_again() {
    let Some(waiting) = Waiting::start().await else {
        return;
    };
    let store = Arc::new(open(&waiting.database).await);
    waiting.wait_for_standby("nobody").await;
    let recording = Arc::clone(&store);
    let recording = tokio::spawn(async move { recording.record(refused(1)).await });
    waiting.cut_the_answer().await;
    waiting.wait_for_standby("").await;
    recording.await.unwrap().unwrap();
    assert_eq!(verified(&*store).await.seq, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_start_nobody_can_ask_about_does_not_run_and_is_marked() {
    let Some(waiting) = Waiting::start().await else {
        return;
    };
    let store = Arc::new(open(&waiting.database).await);
    let task = issued(&*store, &[]).await;
    waiting.wait_for_standby("nobody").await;
    let call = new_call(task, TAKE, None);
    let id = call.id;
    let starting = Arc::clone(&store);
    let starting = tokio::spawn(async move { starting.start(admitted(TAKE, None), call).await });
    waiting.cut_the_answer().await;
    waiting.server.stop("immediate");
    let error = starting.await.unwrap().unwrap_err();
    assert!(matches!(error, StoreError::OutcomeUnknown(_)), "{error}");

    waiting.server.start_again();
    waiting.wait_for_standby("").await;
    // It was committed, as the ledger shows, and never ran. (The kernel's own beat may have marked it before.)
    mark_interrupted(&*store).await.unwrap();
    assert_eq!(state(&*store, id).await.unwrap(), "outcome_unknown");
    let records = store.records_after(1, 9).await.unwrap();
    let kinds: Vec<&str> = records.iter().map(|record| &*record.kind).collect();
    assert_eq!(kinds, ["call_started", "call_outcome_unknown"]);
    verified(&*store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_call_waits_for_a_server_that_is_away() {
    let Some(server) = Server::start() else {
        return;
    };
    let database = Database::on(server.url.clone()).await;
    let store = Arc::new(open(&database).await);
    let task = issued(&*store, &[]).await;
    let call = started(&*store, task).await;
    server.stop("immediate");
    let ending = Arc::clone(&store);
    let mut ending =
        tokio::spawn(
            async move { finish(&*ending, call, Outcome::Failed("operation_failed")).await },
        );
    // Longer than anything else waits for a server.
    let early = tokio::time::timeout(Duration::from_secs(4), &mut ending).await;
    assert!(early.is_err(), "{early:?}");
    server.start_again();
    ending.await.unwrap().unwrap();
    assert_eq!(state(&*store, call).await.unwrap(), "failed");
    verified(&*store).await;
}

#[tokio::test]
async fn a_head_that_somebody_keeps_is_not_waited_for_for_ever() {
    let Some(database) = Database::new().await else {
        return;
    };
    let store = open(&database).await;
    let mut other = database.connect().await;
    sqlx::raw_sql("BEGIN; SELECT seq FROM ledger_head FOR UPDATE")
        .execute(&mut other)
        .await
        .unwrap();
    let task = ulid::Ulid::generate();
    let (one, two, three) = tokio::join!(
        store.record(refused(1)),
        store.post_message(task, "visitor", "hello", now()),
        store.record(refused(1)),
    );
    // The first waits for the lock, the last for its turn.
    let told = one.unwrap_err().to_string();
    assert!(told.contains("lock timeout"), "{told}");
    assert!(two.is_err());
    assert!(matches!(three, Err(StoreError::Busy)), "{three:?}");
    assert_eq!(
        store.counts().await.unwrap().records,
        0,
        "who only reads goes on"
    );
    drop(other);
    store.record(refused(2)).await.unwrap();
    assert_eq!(verified(&store).await.seq, 1);
    assert!(store.messages_after(0, 9).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_session_waits_for_the_flush_and_for_nothing_for_ever() {
    let Some(database) = Database::new().await else {
        return;
    };
    let careless = format!(
        "ALTER DATABASE {} SET synchronous_commit = off;
         CREATE TABLE seen (setting TEXT, value TEXT)",
        database.name()
    );
    database.sql(&careless).await.unwrap();
    let store = open(&database).await;
    let look = "INSERT INTO seen SELECT name, current_setting(name) FROM unnest(ARRAY['synchronous_commit',
        'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_isolation']) AS name";
    at_records(&database, AT_WRITE, 1, look).await;
    store.record(refused(1)).await.unwrap();
    let rows = sqlx::query("SELECT setting || ' ' || value AS seen FROM seen ORDER BY setting")
        .fetch_all(&mut database.connect().await)
        .await
        .unwrap();
    let seen: Vec<String> = rows.iter().map(|row| row.get("seen")).collect();
    assert_eq!(
        seen,
        [
            "idle_in_transaction_session_timeout 5s",
            "lock_timeout 4s",
            "statement_timeout 5s",
            "synchronous_commit on",
            "transaction_isolation read committed",
        ]
    );
}

/// Connections are cut all the while: each change is made once, or not at all and said so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_cut_lose_no_change_and_repeat_none() {
    const WRITERS: usize = 4;
    const CHANGES: usize = 25;
    let Some(database) = Database::new().await else {
        return;
    };
    let store = Arc::new(open(&database).await);
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let mut made = Vec::new();
                for n in 0..CHANGES {
                    let body = json!({"writer": writer, "n": n});
                    let refused = entry(Kind::CallRefused, body);
                    let done = store.record(refused).await;
                    made.push(done.map_err(|error| error.to_string()));
                }
                made
            })
        })
        .collect();
    let mut cuts = 0;
    while !writers.iter().all(tokio::task::JoinHandle::is_finished) {
        database.cut_connections().await;
        cuts += 1;
    }
    assert!(cuts > 1);
    let mut made = Vec::new();
    for writer in writers {
        made.push(writer.await.unwrap());
    }
    // The last cut may still have to be noticed.
    let mut records = store.records_after(0, 1_000).await;
    for _ in 0..8 {
        if records.is_err() {
            records = store.records_after(0, 1_000).await;
        }
    }
    let records = records.unwrap();
    verified(&*store).await;
    for (writer, made) in made.iter().enumerate() {
        for (n, made) in made.iter().enumerate() {
            let body = json!({"writer": writer, "n": n});
            let times = records.iter().filter(|record| record.body == body).count();
            match made {
                Ok(()) => assert_eq!(times, 1, "{body} is said to be recorded"),
                Err(error) if error.contains("nobody knows") => assert!(times <= 1, "{body}"),
                Err(error) => assert_eq!(times, 0, "{body}: {error}"),
            }
        }
    }
    let done = made.iter().flatten().filter(|made| made.is_ok()).count();
    assert!(done > 0, "some went through: {made:?}");
}
