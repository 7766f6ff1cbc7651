//! What somebody with the file in hand can do to the ledger, and where it shows.

use std::path::Path;

use actum_kernel::ledger::{Broken, Head, Kind};
use actum_kernel::store::{SqliteStore, Store, verify_file};
use serde_json::json;
use sqlx::{Connection, Row};

use crate::backend::{raw, sql};
use crate::fixture::entry;

/// A store of five records in a folder.
pub async fn five_records(folder: &Path) -> SqliteStore {
    let store = SqliteStore::open(folder).await.unwrap();
    for n in 1..=5 {
        let refused = entry(Kind::CallRefused, json!({"n": n}));
        store.record(refused).await.unwrap();
    }
    store
}

/// What somebody with the file in hand can do, and the place where it shows.
const TAMPERINGS: [(&str, Broken); 11] = [
    (
        "UPDATE audit SET body = '{\"n\":9}' WHERE seq = 3",
        Broken::Changed(3),
    ),
    (
        "UPDATE audit SET at = '2026-01-01T00:00:00Z' WHERE seq = 3",
        Broken::Changed(3),
    ),
    (
        "UPDATE audit SET kind = 'call_started' WHERE seq = 3",
        Broken::Changed(3),
    ),
    (
        "UPDATE audit SET body = 'not JSON' WHERE seq = 3",
        Broken::Changed(3),
    ),
    (
        "UPDATE audit SET digest = 'not a digest' WHERE seq = 3",
        Broken::Changed(3),
    ),
    (
        "UPDATE audit SET digest = 'sha256:' || hex(zeroblob(32)) WHERE seq = 3",
        Broken::Changed(3),
    ),
    (
        "UPDATE audit SET prev = digest WHERE seq = 3",
        Broken::Unlinked(3),
    ),
    (
        "DELETE FROM audit WHERE seq = 3",
        Broken::Gap {
            expected: 3,
            found: 4,
        },
    ),
    (
        "DELETE FROM audit WHERE seq < 3",
        Broken::Gap {
            expected: 1,
            found: 3,
        },
    ),
    (
        "INSERT INTO audit SELECT -4, at, kind, body, prev, 'x' FROM audit WHERE seq = 1",
        Broken::Changed(-4),
    ),
    (
        "UPDATE audit SET seq = -seq WHERE seq IN (3, 4);
         UPDATE audit SET seq = 7 + seq WHERE seq < 0",
        Broken::Unlinked(3),
    ),
];

const WITHOUT_GUARDS: &str = "DROP TRIGGER audit_keeps_records; DROP TRIGGER audit_loses_nothing;
    DROP TRIGGER audit_only_grows";

#[tokio::test]
async fn tampering_is_found_where_it_was_done() {
    for (tampering, place) in TAMPERINGS {
        let folder = tempfile::tempdir().unwrap();
        five_records(folder.path()).await.close().await;
        assert_eq!(verify_file(folder.path()).await.unwrap().unwrap().seq, 5);
        let mut other = raw(folder.path()).await;
        sql(&mut other, WITHOUT_GUARDS).await.unwrap();
        assert!(sql(&mut other, tampering).await.unwrap() > 0, "{tampering}");
        other.close().await.unwrap();
        let found = verify_file(folder.path()).await.unwrap();
        assert_eq!(found, Err(place), "{tampering}");
    }
}

#[tokio::test]
async fn tampering_under_a_running_kernel_is_found_and_stays_found() {
    for (tampering, place) in TAMPERINGS {
        let folder = tempfile::tempdir().unwrap();
        let store = five_records(folder.path()).await;
        assert_eq!(verify_file(folder.path()).await.unwrap().unwrap().seq, 5);
        let mut other = raw(folder.path()).await;
        sql(&mut other, WITHOUT_GUARDS).await.unwrap();
        sql(&mut other, tampering).await.unwrap();
        let found = verify_file(folder.path()).await.unwrap();
        assert_eq!(found, Err(place.clone()), "{tampering}");
        // What the kernel writes afterwards does not mend it.
        let refused = entry(Kind::CallRefused, json!({"n": 6}));
        store.record(refused).await.unwrap();
        let found = verify_file(folder.path()).await.unwrap();
        assert_eq!(found, Err(place), "{tampering}, and a record after it");
    }
}

/// Somebody who takes the last records away while the kernel runs makes a gap with its next one.
#[tokio::test]
async fn records_cut_off_under_a_running_kernel_leave_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let store = five_records(folder.path()).await;
    let mut other = raw(folder.path()).await;
    sql(&mut other, WITHOUT_GUARDS).await.unwrap();
    sql(&mut other, "DELETE FROM audit WHERE seq > 3")
        .await
        .unwrap();
    let refused = entry(Kind::CallRefused, json!({"n": 6}));
    store.record(refused).await.unwrap();
    let gap = Broken::Gap {
        expected: 4,
        found: 6,
    };
    assert_eq!(verify_file(folder.path()).await.unwrap(), Err(gap));
}

#[tokio::test]
async fn a_long_ledger_verifies_to_its_end() {
    const RECORDS: i64 = 2_345;
    let folder = tempfile::tempdir().unwrap();
    SqliteStore::open(folder.path())
        .await
        .unwrap()
        .close()
        .await;
    let mut other = raw(folder.path()).await;
    let mut transaction = other.begin().await.unwrap();
    let mut head = Head::empty();
    for n in 1..=RECORDS {
        let record = head
            .next(entry(Kind::CallRefused, json!({"n": n})))
            .unwrap();
        sqlx::query("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?)")
            .bind(record.seq)
            .bind(&record.at)
            .bind(&record.kind)
            .bind(record.body.to_string())
            .bind(record.prev.to_string())
            .bind(record.digest.to_string())
            .execute(&mut *transaction)
            .await
            .unwrap();
        head = (&record).into();
    }
    transaction.commit().await.unwrap();
    assert_eq!(verify_file(folder.path()).await.unwrap(), Ok(head));

    sql(&mut other, WITHOUT_GUARDS).await.unwrap();
    sql(&mut other, "UPDATE audit SET body = '{}' WHERE seq = 2345")
        .await
        .unwrap();
    let row = sqlx::query("SELECT body FROM audit WHERE seq = 2345");
    let row = row.fetch_one(&mut other).await.unwrap();
    assert_eq!(row.get::<String, _>("body"), "{}");
    let found = verify_file(folder.path()).await.unwrap();
    assert_eq!(found, Err(Broken::Changed(RECORDS)));
}
