//! Changes that wait for SQLite's one writer share a flush, and nothing else: what fails of one, fails of it alone.

use std::path::Path;
use std::sync::Arc;

use actum_kernel::ledger::{Entry, Kind};
use actum_kernel::store::{SqliteStore, Store, StoreError};
use serde_json::{Value, json};

use crate::backend::{raw, sql};
use crate::fixture::{entry, verified};

/// How many transactions stand in the journal, each of which was flushed: the last frame of one says how long the database is
/// after it (<https://www.sqlite.org/fileformat2.html#the_write_ahead_log>).
fn flushes(folder: &Path) -> usize {
    let journal = std::fs::read(folder.join("actum.db-wal")).unwrap();
    let page = u32::from_be_bytes(journal[8..12].try_into().unwrap());
    let (head, frames) = journal.split_at(32);
    frames
        .chunks_exact(24 + usize::try_from(page).unwrap())
        .filter(|frame| frame[8..16] == head[16..24] && frame[4..8] != [0; 4])
        .count()
}

fn refused(body: Value) -> Entry {
    entry(Kind::CallRefused, body)
}

/// Records all of them at once.
async fn record_all(store: &Arc<SqliteStore>, entries: Vec<Entry>) -> Vec<Result<(), StoreError>> {
    let under_way: Vec<_> = entries
        .into_iter()
        .map(|entry| {
            let store = Arc::clone(store);
            tokio::spawn(async move { store.record(entry).await })
        })
        .collect();
    let mut ended = Vec::new();
    for record in under_way {
        ended.push(record.await.unwrap());
    }
    ended
}

async fn opened(folder: &Path) -> Arc<SqliteStore> {
    let store = SqliteStore::open(folder).await.unwrap();
    store.record(refused(json!("first"))).await.unwrap();
    Arc::new(store)
}

#[tokio::test]
async fn changes_that_wait_share_their_flushes_and_one_that_is_alone_has_its_own() {
    const CHANGES: usize = 48;
    let folder = tempfile::tempdir().unwrap();
    let store = opened(folder.path()).await;
    let before = flushes(folder.path());
    let entries = (0..CHANGES).map(|n| refused(json!({"n": n}))).collect();
    for ended in record_all(&store, entries).await {
        ended.unwrap();
    }
    let shared = flushes(folder.path()) - before;
    assert!((1..=CHANGES / 8).contains(&shared), "{shared} flushes");
    for n in 1..=3 {
        store.record(refused(json!({"alone": n}))).await.unwrap();
        assert_eq!(flushes(folder.path()), before + shared + n);
    }
    assert_eq!(verified(&*store).await.seq, 1 + 48 + 3);
}

#[tokio::test]
async fn a_change_that_fails_takes_none_with_it_that_shares_its_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let store = opened(folder.path()).await;
    let before = flushes(folder.path());
    let body = |n: usize| match n % 3 {
        0 => json!("x".repeat(70_000)),
        _ => json!({"n": n}),
    };
    let ended = record_all(&store, (0..24).map(|n| refused(body(n))).collect()).await;
    for (n, ended) in ended.iter().enumerate() {
        assert_eq!(ended.is_err(), n % 3 == 0, "{n}: {ended:?}");
    }
    assert!(flushes(folder.path()) - before <= 3);
    assert_eq!(verified(&*store).await.seq, 1 + 16);
}

#[tokio::test]
async fn when_a_commit_fails_none_of_its_changes_was_made_and_the_next_ones_are() {
    let folder = tempfile::tempdir().unwrap();
    let store = opened(folder.path()).await;
    // What the commit alone looks at.
    let mut other = raw(folder.path()).await;
    let spoil = "CREATE TABLE tied (task TEXT REFERENCES tasks (id) DEFERRABLE INITIALLY DEFERRED);
        CREATE TRIGGER spoil AFTER INSERT ON audit BEGIN INSERT INTO tied VALUES ('nobody'); END";
    sql(&mut other, spoil).await.unwrap();
    let entries = || (0..12).map(|n| refused(json!({"n": n}))).collect();
    for ended in record_all(&store, entries()).await {
        assert!(
            matches!(ended, Err(StoreError::NotCommitted(_))),
            "{ended:?}"
        );
    }
    assert_eq!(verified(&*store).await.seq, 1);
    sql(&mut other, "DROP TRIGGER spoil").await.unwrap();
    for ended in record_all(&store, entries()).await {
        ended.unwrap();
    }
    assert_eq!(verified(&*store).await.seq, 13);
}

#[tokio::test]
async fn a_change_that_changes_nothing_leaves_no_transaction_open() {
    let folder = tempfile::tempdir().unwrap();
    let store = opened(folder.path()).await;
    let nobody = ulid::Ulid::generate();
    let revoked = entry(Kind::GrantRevoked, json!({}));
    let taken = store.revoke(nobody, revoked).await.unwrap();
    assert!(taken.is_empty());
    // Another program could not write while one is open.
    let mut other = raw(folder.path()).await;
    sql(&mut other, "CREATE TABLE other (n INTEGER)")
        .await
        .unwrap();
    assert_eq!(verified(&*store).await.seq, 1);
}
