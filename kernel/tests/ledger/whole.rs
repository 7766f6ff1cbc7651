//! What holds, of every length, and what the database itself holds.

use actum_kernel::ledger::{Entry, Kind};
use jiff::Timestamp;
use serde_json::json;

use crate::fixture::{Backend, CONFIG, append, assert_holds, assert_told};

suite! {
    a_ledger_of_every_length_holds_as_a_store_and_as_an_export,
    the_chain_of_an_earlier_version_becomes_a_tree_and_a_broken_one_does_not,
    a_record_that_no_bundle_has_room_for_is_refused_and_leaves_no_trace,
    the_database_itself_takes_nothing_back,
}

async fn a_ledger_of_every_length_holds_as_a_store_and_as_an_export(backend: Backend) {
    for records in [0, 1, 255, 256, 257] {
        let home = backend.ledger(records).await;
        let wanted = format!("the ledger holds: {records} records, ending in sha256:");
        let vouched = "the log example.org/log: a checkpoint vouches for all of them";
        assert_holds(&home.verify(&[]).await, &[&wanted, vouched]);
        let wrote = home.run(&["export", "out"], &CONFIG).await;
        assert_holds(&wrote, &[&format!("{records} records")]);
        let export = ["--export", "out", "--public-key", "data/keys/ledger.pub"];
        assert_holds(&home.run(&["verify"], &export).await, &[&wanted, vouched]);
        let proved = home.run(&["prove", "1"], &export).await;
        assert_eq!(proved.code, i32::from(records == 0), "{proved:?}");
    }
}

/// Takes from a store what an earlier version did not have.
const EARLIER_SQLITE: &str = "DROP TABLE ledger_tiles; DROP TABLE ledger_checkpoints; DELETE FROM _sqlx_migrations WHERE version = 3";
const EARLIER_POSTGRES: &str = "DROP TABLE ledger_tiles; DROP TABLE ledger_checkpoints;
    DROP TRIGGER ledger_head_moves_with_the_tree ON ledger_head; ALTER TABLE ledger_head DROP COLUMN signed;
    DROP FUNCTION refuse_change_of_tree, refuse_change_of_checkpoints, refuse_records_without_leaves;
    DELETE FROM _sqlx_migrations WHERE version = 7";

async fn the_chain_of_an_earlier_version_becomes_a_tree_and_a_broken_one_does_not(
    backend: Backend,
) {
    let (earlier, without_tree) = match backend {
        Backend::Sqlite => (
            EARLIER_SQLITE,
            "no checkpoint of its own vouches for it; the kernel signs one when it starts",
        ),
        Backend::Postgres => (EARLIER_POSTGRES, "start the kernel once after an update"),
    };
    let home = backend.ledger(600).await;
    let before = home.run(&["checkpoint"], &CONFIG).await.out;
    home.tamper(earlier).await;
    assert_told(&home.verify(&[]).await, &[without_tree]);
    home.grow(0).await;
    // The tree is the one that it would have had from the beginning.
    assert_eq!(home.run(&["checkpoint"], &CONFIG).await.out, before);
    assert_holds(&home.verify(&[]).await, &["600 records"]);

    let home = backend.ledger(10).await;
    let broken = format!("{earlier}; UPDATE audit SET body = '{{}}' WHERE seq = 3");
    home.tamper(&broken).await;
    let ended = home.actum(&["serve", "--config", "actum.yaml"]).await;
    assert_told(
        &ended,
        &[
            &*home.named().to_string_lossy(),
            "its ledger does not hold, so that no kernel can go on with it: record 3 was changed after it was written",
        ],
    );
    assert_eq!(home.tiles().await, 0, "nothing was taken over");
}

async fn a_record_that_no_bundle_has_room_for_is_refused_and_leaves_no_trace(backend: Backend) {
    let home = backend.home().await;
    let store = home.open(4).await;
    append(&*store, 2).await;
    let long = Entry {
        at: Timestamp::UNIX_EPOCH,
        kind: Kind::CallRefused,
        body: json!("x".repeat(65_535)),
    };
    let told = store.record(long).await.unwrap_err().to_string();
    assert!(
        told.contains("is too long; the longest has 65535"),
        "{told}"
    );
    append(&*store, 2).await;
    store.close().await;
    assert_holds(
        &home.verify(&[]).await,
        &["4 records", "vouches for all of them"],
    );
}

async fn the_database_itself_takes_nothing_back(backend: Backend) {
    let home = backend.ledger(10).await;
    for change in [
        "UPDATE ledger_tiles SET hashes = zeroblob(length(hashes))",
        "UPDATE ledger_tiles SET hashes = substr(hashes, 1, 32)",
        "UPDATE ledger_tiles SET place = 7",
        "DELETE FROM ledger_tiles",
        "UPDATE ledger_checkpoints SET note = ''",
        "DELETE FROM ledger_checkpoints",
    ] {
        let told = home.sql(change).await.unwrap_err();
        assert!(told.to_string().contains("append-only"), "{change}: {told}");
    }
}
