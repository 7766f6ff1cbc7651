//! What PostgreSQL adds: a server that may not be there or lose a connection, and other kernels.

use std::path::Path;
use std::sync::Arc;

use actum_kernel::ledger::{Broken, Kind};
use actum_kernel::store::{Outcome, PostgresArchive, PostgresStore, Store};
use serde_json::json;
use sqlx::{Connection, Row};
use ulid::Ulid;

use crate::database::Database;
use crate::fixture::{entry, finish, grant, issued, now, started, state, verified};

/// What an operator runs who gives kernels a role of their own.
const ROLE: &str = include_str!("../../../docs/postgres-role.sql");

async fn open(database: &Database) -> PostgresStore {
    PostgresStore::open(&database.url_file()).await.unwrap()
}

/// Why a store cannot be opened.
async fn refusal(url_file: &Path) -> String {
    match PostgresStore::open(url_file).await {
        Ok(_) => panic!("{} was opened", url_file.display()),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn what_is_wrong_with_the_database_is_told_with_the_file_and_without_the_password() {
    let Some(database) = Database::new().await else {
        return;
    };
    let secret = database.url.split([':', '@']).nth(2).unwrap().to_owned();
    let port = database.url.rsplit([':', '/']).nth(1).unwrap().to_owned();
    // Nobody listens on port 1.
    let unreachable = database.changed_url_file(&format!(":{port}/"), ":1/");
    let wrong_password = database.changed_url_file(&secret, "wrong");
    let no_database = database.changed_url_file(database.name(), "nowhere");
    let no_url = database.changed_url_file("postgres://", "mysql://");
    let missing = database.url_file().with_file_name("missing");
    for (file, wanted) in [
        (unreachable, ["127.0.0.1:1", "start it"]),
        (
            wrong_password,
            ["password authentication failed", "correct"],
        ),
        (no_database, ["nowhere", "createdb"]),
        (
            no_url,
            ["no URL of a PostgreSQL", "postgres://user:password@"],
        ),
        (missing, ["cannot be read", "the URL"]),
    ] {
        let told = refusal(&file).await;
        assert!(told.starts_with(&file.display().to_string()), "{told}");
        for wanted in wanted {
            assert!(told.contains(wanted), "{wanted}: {told}");
        }
        assert!(!told.contains(&secret), "{told}");
    }
}

#[tokio::test]
async fn tables_of_another_program_or_of_a_newer_version_are_told() {
    let Some(foreign) = Database::new().await else {
        return;
    };
    foreign.sql("CREATE TABLE tasks (what TEXT)").await.unwrap();
    let told = refusal(&foreign.url_file()).await;
    assert!(
        told.contains("another program") && told.contains("choose"),
        "{told}"
    );

    let newer = Database::new().await.unwrap();
    open(&newer).await.close().await;
    let migration = "INSERT INTO _sqlx_migrations SELECT version + 1, description, installed_on, success, checksum, execution_time FROM _sqlx_migrations ORDER BY version DESC LIMIT 1";
    assert_eq!(newer.sql(migration).await.unwrap(), 1);
    let told = refusal(&newer.url_file()).await;
    assert!(told.contains("newer version of Actum"), "{told}");
}

#[tokio::test]
async fn a_role_of_its_own_can_run_a_kernel_and_cannot_touch_the_ledger() {
    let Some(database) = Database::new().await else {
        return;
    };
    // Roles are of the whole server.
    let role = format!("kernel_{}", Ulid::generate()).to_lowercase();
    let secret = database.url.split([':', '@']).nth(2).unwrap();
    let make = format!("CREATE ROLE {role} LOGIN PASSWORD '{secret}'");
    database.sql(&make).await.unwrap();
    let as_role = database.changed_url_file("//actum:", &format!("//{role}:"));

    // Before the owner of the tables made them.
    let told = refusal(&as_role).await;
    assert!(
        told.contains("may not make them") && told.contains("docs/postgres-role.sql"),
        "{told}"
    );

    open(&database).await.close().await;
    database
        .sql(&ROLE.replace("actum_kernel", &role))
        .await
        .unwrap();
    let store = PostgresStore::open(&as_role).await.unwrap();
    let token = Ulid::generate();
    let task = issued(&store, &[token]).await;
    let call = started(&store, task).await;
    finish(&store, call, Outcome::Failed).await.unwrap();
    store
        .post_message(task, "visitor", "hello", now())
        .await
        .unwrap();
    store.mark_interrupted(now()).await.unwrap();
    let revoked = entry(Kind::GrantRevoked, json!({}));
    assert!(store.revoke(task, revoked).await.unwrap());
    let before = verified(&store).await;

    let url = std::fs::read_to_string(as_role).unwrap();
    let mut other = sqlx::postgres::PgConnection::connect(&url).await.unwrap();
    for text in [
        "UPDATE audit SET body = '{}'",
        "DELETE FROM audit",
        "TRUNCATE audit",
        "DROP TRIGGER audit_only_grows ON audit",
        "ALTER TABLE audit DISABLE TRIGGER ALL",
        "DELETE FROM calls",
        "DELETE FROM ledger_head",
        "DROP TABLE audit",
    ] {
        let told = sqlx::raw_sql(text).execute(&mut other).await.unwrap_err();
        let told = told.to_string();
        assert!(
            told.contains("permission denied") || told.contains("must be owner"),
            "{text}: {told}"
        );
    }
    assert_eq!(verified(&store).await, before);
    store.close().await;
    let gone = format!("DROP OWNED BY {role}; DROP ROLE {role}");
    database.sql(&gone).await.unwrap();
}

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

    // One that signs off says itself that it is gone.
    one.close().await;
    let left = usize::from(!long);
    assert_eq!(other.mark_interrupted(now()).await.unwrap(), left);
    assert_eq!(state(&other, call).await.unwrap(), "outcome_unknown");
    other.close().await;
}

#[tokio::test]
async fn a_call_whose_end_could_not_be_stored_is_marked_though_its_kernel_lives() {
    let Some(database) = Database::new().await else {
        return;
    };
    let store = open(&database).await;
    let task = issued(&store, &[]).await;
    let (lost, running) = (started(&store, task).await, started(&store, task).await);
    let full =
        "ALTER TABLE audit ADD CONSTRAINT is_full CHECK (kind <> 'call_succeeded') NOT VALID";
    database.sql(full).await.unwrap();
    assert!(finish(&store, lost, Outcome::Failed).await.is_err());
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
    assert!(one.revoke(task, revoked).await.unwrap());
    assert!(!other.is_still_live(task).await.unwrap());
    assert!(!other.is_still_live(Ulid::generate()).await.unwrap());
}

#[tokio::test]
async fn what_was_done_to_the_ledger_is_found_where_it_was_done() {
    let Some(database) = Database::new().await else {
        return;
    };
    let store = open(&database).await;
    for n in 1..=5 {
        let refused = entry(Kind::CallRefused, json!({"n": n}));
        store.record(refused).await.unwrap();
    }
    let read = async || {
        let archive = PostgresArchive::open(&database.url_file()).await;
        archive.unwrap().ledger(|_| ()).await.unwrap()
    };
    assert_eq!(read().await, Ok(store.head().await.unwrap()));
    // As the owner of the tables can.
    let unguarded = "ALTER TABLE audit DISABLE TRIGGER USER";
    database.sql(unguarded).await.unwrap();
    for (change, undo, place) in [
        (
            r#"UPDATE audit SET body = '{"n":9}' WHERE seq = 3"#,
            r#"UPDATE audit SET body = '{"n":3}' WHERE seq = 3"#,
            Broken::Changed(3),
        ),
        (
            "UPDATE audit SET body = 'no JSON' WHERE seq = 2",
            r#"UPDATE audit SET body = '{"n":2}' WHERE seq = 2"#,
            Broken::Changed(2),
        ),
        (
            "UPDATE audit SET seq = -4 WHERE seq = 4",
            "UPDATE audit SET seq = 4 WHERE seq = -4",
            Broken::Gap {
                expected: 1,
                found: -4,
            },
        ),
        (
            "DELETE FROM audit WHERE seq > 3",
            "SELECT 1",
            Broken::Gap {
                expected: 4,
                found: 6,
            },
        ),
    ] {
        database.sql(change).await.unwrap();
        if let Broken::Gap { found: 6, .. } = place {
            // The kernel ties its next record on to what it wrote last, and so makes a gap.
            let refused = entry(Kind::CallRefused, json!({"n": 6}));
            store.record(refused).await.unwrap();
        }
        assert_eq!(read().await, Err(place), "{change}");
        database.sql(undo).await.unwrap();
    }
}

#[tokio::test]
async fn an_archive_is_of_one_moment_and_is_no_store_where_there_is_none() {
    let Some(database) = Database::new().await else {
        return;
    };
    let told = PostgresArchive::open(&database.url_file()).await;
    let told = told.unwrap_err().to_string();
    assert!(told.contains("there is no store of this version"), "{told}");

    let store = open(&database).await;
    let (task, token) = (issued(&store, &[]).await, Ulid::generate());
    let call = started(&store, task).await;
    let mut archive = PostgresArchive::open(&database.url_file()).await.unwrap();
    let later = issued(&store, &[token]).await;
    let revoked = entry(Kind::GrantRevoked, json!({}));
    assert!(store.revoke(task, revoked).await.unwrap());
    let seen = archive.task(task).await.unwrap().unwrap();
    assert_eq!(seen.grant, grant(task, &[]));
    assert_eq!(seen.revoked_at, None, "it was taken back after the moment");
    assert!(archive.task(later).await.unwrap().is_none());
    assert_eq!(archive.newest_tasks(9).await.unwrap(), [task.to_string()]);
    let calls = archive.calls(task, 9).await.unwrap();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].id, call.to_string());
    assert_eq!(archive.ledger(|_| ()).await.unwrap().unwrap().seq, 2);
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
