//! One key for all kernels, and kernels that know no tree.

use actum_kernel::ledger::Kind;
use actum_kernel::ledger::notary::Notary;
use actum_kernel::store::{PostgresStore, Store, StoreError};
use serde_json::json;

use super::open;
use crate::database::Database;
use crate::fixture::{entry, now, verified};

/// A kernel with the key of a folder.
async fn signed(database: &Database, keys: &str) -> Result<PostgresStore, StoreError> {
    let folder = database.url_file().with_file_name(keys);
    let notary = Notary::open(&folder, None, 100).unwrap();
    open(database).await.signed_by(notary).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_kernels_that_start_at_once_with_several_keys_one_begins_the_log() {
    let Some(database) = Database::new().await else {
        return;
    };
    let (one, two, three) = tokio::join!(
        signed(&database, "one"),
        signed(&database, "two"),
        signed(&database, "three"),
    );
    let all = [one, two, three];
    let began = all.iter().filter(|kernel| kernel.is_ok()).count();
    assert_eq!(began, 1, "{all:?}");
    for refused in all.iter().filter_map(|kernel| kernel.as_ref().err()) {
        let told = refused.to_string();
        for wanted in [
            &*database.url_file().to_string_lossy(),
            "signed by another key",
            "copy `keys/ledger.key`",
        ] {
            assert!(told.contains(wanted), "{wanted}: {told}");
        }
    }
}

#[tokio::test]
async fn what_one_kernel_signs_the_others_go_on_from() {
    let Some(database) = Database::new().await else {
        return;
    };
    let one = signed(&database, "shared").await.unwrap();
    let other = signed(&database, "shared").await.unwrap();
    let size = async |store: &PostgresStore| {
        let note = store.checkpoint(now()).await.unwrap().unwrap();
        note.lines().nth(1).unwrap().parse::<u64>().unwrap()
    };
    assert_eq!((size(&one).await, size(&other).await), (0, 0));
    for n in 1..=3 {
        let refused = entry(Kind::CallRefused, json!({"n": n}));
        one.record(refused.clone()).await.unwrap();
        // Signed by the other, and not again by this one.
        assert_eq!(
            (size(&other).await, size(&one).await),
            (2 * n - 1, 2 * n - 1)
        );
        other.record(refused).await.unwrap();
        assert_eq!((size(&one).await, size(&other).await), (2 * n, 2 * n));
    }
    assert_eq!(verified(&one).await.seq, 6);
    let without = open(&database).await;
    assert_eq!(without.checkpoint(now()).await.unwrap(), None);
}

#[tokio::test]
async fn a_kernel_of_a_version_without_a_tree_appends_nothing_any_more() {
    let Some(database) = Database::new().await else {
        return;
    };
    let store = open(&database).await;
    let refused = entry(Kind::CallRefused, json!({"n": 1}));
    store.record(refused.clone()).await.unwrap();
    let earlier = "BEGIN; INSERT INTO audit SELECT 2, at, kind, body, digest, 'x' FROM audit;
        UPDATE ledger_head SET seq = 2, digest = 'x'; COMMIT";
    let told = database.sql(earlier).await.unwrap_err().to_string();
    assert!(told.contains("the ledger has a tree by now"), "{told}");
    store.record(refused).await.unwrap();
    assert_eq!(verified(&store).await.seq, 2);
}

#[tokio::test]
async fn a_head_that_is_not_the_end_of_the_chain_stops_the_start() {
    let Some(database) = Database::new().await else {
        return;
    };
    let store = open(&database).await;
    let refused = entry(Kind::CallRefused, json!({"n": 1}));
    store.record(refused).await.unwrap();
    let moved = "ALTER TABLE ledger_head DISABLE TRIGGER USER; UPDATE ledger_head SET seq = 7";
    database.sql(moved).await.unwrap();
    let told = PostgresStore::open(&database.url_file()).await.unwrap_err();
    let told = told.to_string();
    assert!(
        told.contains("its ledger ends in record 1, and its head says 7"),
        "{told}"
    );
}
