//! What SQLite adds: one file, which one kernel has open.

use std::path::Path;

use actum_kernel::ledger::Kind;
use actum_kernel::store::{SqliteStore, Store, verify_file};
use serde_json::json;
use sqlx::Connection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use ulid::Ulid;

use crate::backend::{raw, sql};
use crate::fixture::{entry, verified};
use crate::tampering::five_records;

/// Why a store cannot be opened.
async fn refusal(folder: &Path) -> String {
    match SqliteStore::open(folder).await {
        Ok(_) => panic!("{} was opened", folder.display()),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_second_kernel_is_refused_until_the_first_lets_go() {
    let folder = tempfile::tempdir().unwrap();
    let first = five_records(folder.path()).await;
    let told = refusal(folder.path()).await;
    let lock = folder.path().join("actum.lock").display().to_string();
    assert!(told.contains(&lock), "{told}");
    assert!(
        told.contains("another kernel") && told.contains("stop it"),
        "{told}"
    );
    assert_eq!(verified(&first).await.seq, 5);
    drop(first);
    SqliteStore::open(folder.path()).await.unwrap();
}

/// When the disk is full, SQLite may roll a transaction back by itself, as this trigger does.
#[tokio::test]
async fn what_is_written_after_the_disk_was_full_is_there_for_everybody() {
    let folder = tempfile::tempdir().unwrap();
    let store = five_records(folder.path()).await;
    let mut other = raw(folder.path()).await;
    let full =
        "CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ROLLBACK, 'full'); END";
    sql(&mut other, full).await.unwrap();
    let one = || entry(Kind::CallRefused, json!({}));
    assert!(store.record(one()).await.is_err());
    sql(&mut other, "DROP TRIGGER full").await.unwrap();
    // A write that changes nothing, and one that does.
    let taken = store.revoke(Ulid::generate(), one()).await.unwrap();
    assert!(taken.is_empty());
    store.record(one()).await.unwrap();
    let head = verify_file(folder.path()).await.unwrap().unwrap();
    assert_eq!((head.seq, head), (6, verified(&store).await));
}

#[tokio::test]
async fn what_is_no_store_is_told_by_its_file_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("actum.db");
    let unchanged = async |wanted: &[&str]| {
        let before = std::fs::read(&file).unwrap();
        let told = refusal(folder.path()).await;
        assert!(told.contains(&file.display().to_string()), "{told}");
        for wanted in wanted {
            assert!(told.contains(wanted), "{wanted}: {told}");
        }
        assert_eq!(std::fs::read(&file).unwrap(), before);
    };

    std::fs::write(&file, "This is a text of somebody else's.\n".repeat(500)).unwrap();
    unchanged(&["no database", "move it away"]).await;
    let told = verify_file(folder.path()).await.unwrap_err().to_string();
    assert!(
        told.contains("actum.db") && told.contains("no database"),
        "{told}"
    );

    std::fs::remove_file(&file).unwrap();
    let foreign = SqliteConnectOptions::new()
        .filename(&file)
        .create_if_missing(true);
    let mut foreign = SqliteConnection::connect_with(&foreign).await.unwrap();
    sql(&mut foreign, "CREATE TABLE songs (title TEXT)")
        .await
        .unwrap();
    foreign.close().await.unwrap();
    unchanged(&["another program", "`data`"]).await;

    std::fs::remove_file(&file).unwrap();
    five_records(folder.path()).await.close().await;
    let mut newer = raw(folder.path()).await;
    let migration = "INSERT INTO _sqlx_migrations SELECT version + 1, description, installed_on, success, checksum, execution_time FROM _sqlx_migrations ORDER BY version DESC LIMIT 1";
    assert_eq!(sql(&mut newer, migration).await.unwrap(), 1);
    newer.close().await.unwrap();
    let told = refusal(folder.path()).await;
    assert!(
        told.contains("newer version") && told.contains("actum.db"),
        "{told}"
    );
}

/// What a table is made anew for, and what is in it, goes together.
#[tokio::test]
async fn calls_and_decisions_of_an_earlier_version_are_all_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("actum.db");
    let options = SqliteConnectOptions::new()
        .filename(&file)
        .create_if_missing(true);
    let mut earlier = SqliteConnection::connect_with(&options).await.unwrap();
    for made in [
        include_str!("../../migrations/sqlite/0001_spine.sql"),
        include_str!("../../migrations/sqlite/0004_approvals.sql"),
        include_str!("../../migrations/sqlite/0005_idempotency.sql"),
        include_str!("../../migrations/sqlite/0008_recovery.sql"),
        "INSERT INTO tasks (id, token_hash, grant_body, expires_at) VALUES ('t', x'00', '{}', 'later')",
        "INSERT INTO selection_tokens (id, task_id, type, target, expires_at) VALUES ('s', 't', 'thread', 'm', 'later')",
        "INSERT INTO calls VALUES ('c', 't', 'a.b', '{}', x'01', 'pending', 'why', 'bound', 's', 'later', 'd', '1', 'then',
             'now', 'key', 'asked', 2)",
        "INSERT INTO decisions VALUES ('c', 'owner', 'approved', 'fine', 'bound', 'now')",
    ] {
        sql(&mut earlier, made).await.unwrap();
    }
    let rows = "(SELECT json_group_array(json_array(id, task_id, action, arguments, hex(sealed), state, reason, binding,
         selection, expires_at, superseded_by, result, created_at, updated_at, idempotency_key, asked, resumptions)) FROM calls)
         || (SELECT json_group_array(json_array(call_id, approver, decision, reason, binding, at)) FROM decisions)";
    let all = format!("SELECT {rows}");
    let before: String = sqlx::query_scalar(sqlx::AssertSqlSafe(all.clone()))
        .fetch_one(&mut earlier)
        .await
        .unwrap();
    let migration = include_str!("../../migrations/sqlite/0009_cancelled.sql");
    sql(&mut earlier, &format!("BEGIN; {migration} COMMIT"))
        .await
        .unwrap();
    let after: String = sqlx::query_scalar(sqlx::AssertSqlSafe(all))
        .fetch_one(&mut earlier)
        .await
        .unwrap();
    assert_eq!(before, after);
    assert!(after.contains(r#"["c","owner","approved""#), "{after}");
    let cancel = "UPDATE calls SET state = 'cancelled' WHERE id = 'c'";
    assert_eq!(sql(&mut earlier, cancel).await.unwrap(), 1);
    // A decision is still one on a call.
    let foreign =
        "INSERT INTO decisions VALUES ('none', 'owner', 'approved', NULL, 'bound', 'now')";
    assert!(sql(&mut earlier, foreign).await.is_err());
}

#[tokio::test]
async fn a_damaged_store_is_told_and_not_taken_for_an_empty_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = five_records(folder.path()).await;
    store.close().await;
    let file = folder.path().join("actum.db");
    let journal = folder.path().join("actum.db-wal");
    let left = std::fs::metadata(journal).map_or(0, |journal| journal.len());
    assert_eq!(left, 0, "a store that was closed is whole in its file");
    drop(store);
    let mut bytes = std::fs::read(&file).unwrap();
    // All but the page of the schema.
    bytes[4096..].fill(0xa5);
    std::fs::write(&file, bytes).unwrap();
    let told = refusal(folder.path()).await;
    assert!(
        told.contains("actum.db") && told.contains("malformed"),
        "{told}"
    );
    let told = verify_file(folder.path()).await.unwrap_err().to_string();
    assert!(
        told.contains("actum.db") && told.contains("damaged"),
        "{told}"
    );
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let told = refusal(&file.join("data")).await;
    assert!(
        told.contains("file/data") && told.contains("`data`"),
        "{told}"
    );

    std::fs::create_dir(folder.path().join("actum.db")).unwrap();
    let told = refusal(folder.path()).await;
    assert!(told.contains("actum.db"), "{told}");

    let empty = tempfile::tempdir().unwrap();
    let told = verify_file(empty.path()).await.unwrap_err().to_string();
    assert!(
        told.contains("no store here") && told.contains("`data`"),
        "{told}"
    );
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0);
}
