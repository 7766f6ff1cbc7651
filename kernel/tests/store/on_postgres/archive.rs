//! What the owner and the auditor read beside the kernels.

use actum_kernel::ledger::{Broken, Kind};
use actum_kernel::store::{PostgresArchive, Store};
use serde_json::json;
use ulid::Ulid;

use super::open;
use crate::database::Database;
use crate::fixture::{entry, grant, issued, started};

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
    assert_eq!(store.revoke(task, revoked).await.unwrap(), [task]);
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
