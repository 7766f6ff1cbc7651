//! The ledger as an auditor meets it: over the real binary, by the public key alone, whatever was done to the file.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod process;

use std::path::Path;

use actum_kernel::ledger::notary::Notary;
use actum_kernel::ledger::{Entry, Kind};
use actum_kernel::store::{SqliteStore, Store};
use jiff::Timestamp;
use process::{Ended, Home};
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _, Row as _};

const CONFIG: [&str; 2] = ["--config", "actum.yaml"];
const WITHOUT_GUARDS: &str = "DROP TRIGGER audit_keeps_records; DROP TRIGGER audit_loses_nothing;
    DROP TRIGGER audit_only_grows; DROP TRIGGER ledger_tiles_only_grow; DROP TRIGGER ledger_tiles_stay;
    DROP TRIGGER ledger_checkpoints_are_kept; DROP TRIGGER ledger_checkpoints_stay;";

/// A ledger in a folder's store, signed every so many records.
async fn open(home: &Home, every: u64) -> SqliteStore {
    let store = SqliteStore::open(&home.data()).await.unwrap();
    let notary = Notary::open(&home.path("data/keys"), Some("example.org/log"), every).unwrap();
    store.signed_by(notary).await.unwrap()
}

async fn append(store: &SqliteStore, records: u64) {
    for n in 0..records {
        let entry = Entry {
            at: Timestamp::UNIX_EPOCH,
            kind: Kind::CallRefused,
            body: json!({"n": n}),
        };
        store.record(entry).await.unwrap();
    }
}

/// A folder with a ledger of so many records, signed at every fourth and at the end.
async fn ledger(records: u64) -> Home {
    let home = Home::sample();
    grow(&home, records).await;
    home
}

async fn grow(home: &Home, records: u64) {
    let store = open(home, 4).await;
    append(&store, records).await;
    store.checkpoint(Timestamp::UNIX_EPOCH).await.unwrap();
    store.close().await;
}

/// Another ledger of so many records, with the key of this one and the files that were kept.
async fn anew(home: &Home, records: u64, kept: &[&str]) -> Home {
    let other = Home::sample();
    for file in [&["data/keys/ledger.key", "data/keys/ledger.pub"], kept].concat() {
        other.write(file, &home.read(file));
    }
    grow(&other, records).await;
    other
}

async fn raw(home: &Home) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(home.data().join("actum.db"));
    SqliteConnection::connect_with(&options).await.unwrap()
}

/// Changes the file behind the kernel's back, the guards taken off.
async fn tamper(home: &Home, change: &str) {
    let mut file = raw(home).await;
    let sql = format!("{WITHOUT_GUARDS}{change}");
    sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(&mut file)
        .await
        .unwrap();
    file.close().await.unwrap();
}

async fn run(home: &Home, command: &[&str], more: &[&str]) -> Ended {
    home.actum(&[&["ledger"], command, more].concat()).await
}

async fn verify(home: &Home, more: &[&str]) -> Ended {
    run(home, &["verify"], &[&CONFIG, more].concat()).await
}

#[track_caller]
fn assert_holds(ended: &Ended, wanted: &[&str]) {
    assert_eq!(ended.code, 0, "{ended:?}");
    for wanted in wanted {
        assert!(ended.out.contains(wanted), "{wanted:?}: {ended:?}");
    }
}

#[track_caller]
fn assert_told(ended: &Ended, wanted: &[&str]) {
    assert_eq!(ended.code, 1, "{ended:?}");
    for wanted in wanted {
        assert!(ended.err.contains(wanted), "{wanted:?}: {}", ended.err);
    }
}

#[tokio::test]
async fn a_ledger_of_every_length_holds_as_a_store_and_as_an_export() {
    for records in [0, 1, 255, 256, 257] {
        let home = ledger(records).await;
        let wanted = format!("the ledger holds: {records} records, ending in sha256:");
        let vouched = "the log example.org/log: a checkpoint vouches for all of them";
        assert_holds(&verify(&home, &[]).await, &[&wanted, vouched]);
        let wrote = run(&home, &["export", "out"], &CONFIG).await;
        assert_holds(&wrote, &[&format!("{records} records")]);
        let export = ["--export", "out", "--public-key", "data/keys/ledger.pub"];
        assert_holds(&run(&home, &["verify"], &export).await, &[&wanted, vouched]);
        let proved = run(&home, &["prove", "1"], &export).await;
        assert_eq!(proved.code, i32::from(records == 0), "{proved:?}");
    }
}

/// What somebody with the file in hand can do, and how it is told. The ledger has ten records and checkpoints of four,
/// eight and ten of them.
const TAMPERINGS: [(&str, &[&str]); 14] = [
    (
        "UPDATE audit SET body = '{\"n\":9}' WHERE seq = 3",
        &["record 3 was changed after it was written"],
    ),
    (
        "DELETE FROM audit WHERE seq = 3",
        &["record 3 is missing; the next one found is 4"],
    ),
    (
        "UPDATE audit SET seq = -seq WHERE seq IN (3, 4); UPDATE audit SET seq = 7 + seq WHERE seq < 0",
        &["record 3 does not follow the record before it"],
    ),
    (
        "DELETE FROM audit WHERE seq > 9",
        &[
            "its end was cut off: there are 9 records, and a stored checkpoint was signed over 10; those from 10 to 10 are missing",
            "tile 0/0 of the tree is not that of records 1 to 9",
        ],
    ),
    (
        "DELETE FROM audit",
        &[
            "its end was cut off: there are 0 records, and a stored checkpoint was signed over 10; those from 1 to 10 are missing",
        ],
    ),
    (
        "UPDATE ledger_tiles SET hashes = zeroblob(length(hashes))",
        &["tile 0/0 of the tree is not that of records 1 to 10"],
    ),
    (
        "UPDATE ledger_tiles SET hashes = substr(hashes, 1, 32)",
        &["tile 0/0 of the tree is not that of records 1 to 10"],
    ),
    (
        "UPDATE ledger_tiles SET hashes = CAST(hashes || zeroblob(32) AS BLOB)",
        &["tile 0/0 of the tree is not that of records 1 to 10"],
    ),
    (
        "DELETE FROM ledger_tiles",
        &["tile 0/0 of the tree is not that of records 1 to 10"],
    ),
    (
        "DELETE FROM ledger_checkpoints",
        &["no checkpoint of its own vouches for it"],
    ),
    (
        "DROP TABLE ledger_checkpoints; DROP TABLE ledger_tiles",
        &["no checkpoint of its own vouches for it"],
    ),
    (
        "UPDATE ledger_checkpoints SET note = replace(note, char(10) || '8' || char(10), char(10) || '7' || char(10)) WHERE size = 8",
        &["a stored checkpoint: its signature does not fit its text"],
    ),
    (
        "UPDATE ledger_checkpoints SET note = 'nonsense' WHERE size = 8",
        &["a stored checkpoint: it is no checkpoint"],
    ),
    (
        "UPDATE ledger_checkpoints SET note = replace(note, '— example.org/log ', '— example.org/other ') WHERE size = 8",
        &["a stored checkpoint: it is signed by another key than example.org/log+"],
    ),
];

#[tokio::test]
async fn every_tampering_with_the_file_is_told() {
    for (change, wanted) in TAMPERINGS {
        let home = ledger(10).await;
        assert_eq!(verify(&home, &[]).await.code, 0);
        tamper(&home, change).await;
        let told = verify(&home, &[]).await;
        assert_told(&told, &["the ledger does not hold: "]);
        assert_told(&told, wanted);
    }
}

/// The records and the tree of a ledger of its own, put in place of another's.
async fn rewrite(home: &Home, records: u64) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).await.unwrap();
    append(&store, 1).await;
    append(&store, records - 1).await;
    store.close().await;
    let other = folder.path().join("actum.db");
    let change = format!(
        "ATTACH '{}' AS other; DELETE FROM audit; DELETE FROM ledger_tiles;
         INSERT INTO audit SELECT * FROM other.audit; INSERT INTO ledger_tiles SELECT * FROM other.ledger_tiles",
        other.display()
    );
    tamper(home, &change).await;
}

#[tokio::test]
async fn a_log_that_was_written_anew_with_a_chain_and_a_tree_that_hold_is_told_by_its_signatures() {
    let home = ledger(10).await;
    rewrite(&home, 10).await;
    assert_told(
        &verify(&home, &[]).await,
        &[
            "the ledger does not hold: records 1 to 4 are not all those that a stored checkpoint was signed over",
        ],
    );
    // Nothing but the first checkpoint that does not fit is told of one cause.
    assert_eq!(verify(&home, &[]).await.err.lines().count(), 1);
}

#[tokio::test]
async fn checkpoints_of_another_key_vouch_for_nothing() {
    let kept = ledger(10).await.read("data/keys/ledger.pub");
    let home = ledger(10).await;
    home.write("kept.pub", &kept);
    assert_holds(&verify(&home, &[]).await, &["10 records"]);
    let told = verify(&home, &["--public-key", "kept.pub"]).await;
    assert_told(
        &told,
        &["a stored checkpoint: it is signed by another key than example.org/log+"],
    );
    assert_told(
        &run(
            &home,
            &["checkpoint"],
            &[&CONFIG[..], &["--public-key", "kept.pub"]].concat(),
        )
        .await,
        &["signed by another key"],
    );
}

#[tokio::test]
async fn a_checkpoint_that_was_kept_finds_what_the_holder_of_the_key_did() {
    let home = ledger(10).await;
    let kept = run(&home, &["checkpoint"], &CONFIG).await;
    assert_eq!(kept.code, 0, "{kept:?}");
    home.write("kept.txt", &kept.out);
    let with = ["--checkpoint", "kept.txt"];
    assert_holds(
        &verify(&home, &with).await,
        &["it goes on from the checkpoint that was kept"],
    );
    grow(&home, 3).await;
    assert_holds(&verify(&home, &with).await, &["13 records"]);

    // Cut off so that everything that is left fits: only the one who kept a checkpoint can tell.
    tamper(
        &home,
        "DELETE FROM audit WHERE seq > 8; DELETE FROM ledger_checkpoints WHERE size > 8;
         UPDATE ledger_tiles SET hashes = substr(hashes, 1, 8 * 32)",
    )
    .await;
    assert_holds(
        &verify(&home, &[]).await,
        &["8 records", "a cut end could go unseen"],
    );
    assert_told(
        &verify(&home, &with).await,
        &[
            "its end was cut off: there are 8 records, and the checkpoint in kept.txt was signed over 10; those from 9 to 10 are missing",
        ],
    );

    // Written anew and signed with the same key; the first eight records are as they were.
    let home = anew(&home, 8, &["kept.txt"]).await;
    grow(&home, 7).await;
    assert_holds(&verify(&home, &[]).await, &["15 records"]);
    assert_told(
        &verify(&home, &with).await,
        &["records 9 to 10 are not all those that the checkpoint in kept.txt was signed over"],
    );
    home.write("nothing.txt", "");
    assert_told(
        &verify(&home, &["--checkpoint", "nothing.txt"]).await,
        &["nothing.txt: has no checkpoint"],
    );
    assert_told(
        &verify(&home, &["--checkpoint", "gone.txt"]).await,
        &["gone.txt: cannot be read"],
    );
}

#[tokio::test]
async fn a_witness_keeps_what_grew_and_refuses_what_did_not() {
    let home = ledger(5).await;
    home.write("kept.pub", &home.read("data/keys/ledger.pub"));
    let witness = async |home: &Home, from: &[&str]| {
        let more = [&["--public-key", "kept.pub", "--file", "witness.txt"], from].concat();
        run(home, &["witness"], &more).await
    };
    assert_holds(
        &witness(&home, &CONFIG).await,
        &["kept the first checkpoint, of 5 records"],
    );
    assert_holds(&witness(&home, &CONFIG).await, &["nothing new: 5 records"]);
    grow(&home, 300).await;
    // Another machine has an export alone.
    assert_eq!(run(&home, &["export", "out"], &CONFIG).await.code, 0);
    assert_holds(
        &witness(&home, &["--export", "out"]).await,
        &["the ledger only grew: from 5 to 305 records"],
    );
    let kept = home.read("witness.txt");
    assert_eq!(kept.matches("\n— example.org/log ").count(), 2, "{kept}");
    // The whole file is good for `verify`.
    let all = verify(&home, &["--checkpoint", "witness.txt"]).await;
    assert_holds(&all, &["each of the 2 checkpoints that were kept"]);

    for (records, wanted) in [
        (
            304,
            "the ledger's end was cut off: its newest checkpoint is of 304 records, and the one that was kept is of 305",
        ),
        (
            305,
            "the ledger was rewritten: its newest checkpoint, of 305 records, does not begin with the 305",
        ),
        (
            400,
            "the ledger was rewritten: its newest checkpoint, of 400 records, does not begin with the 305",
        ),
    ] {
        let other = anew(&home, records, &["kept.pub", "witness.txt"]).await;
        assert_told(&witness(&other, &CONFIG).await, &[wanted]);
        assert_eq!(other.read("witness.txt"), kept, "the file stays as it was");
    }
    home.write("witness.txt", &kept.replace("\n305\n", "\n306\n"));
    assert_told(
        &witness(&home, &CONFIG).await,
        &["witness.txt: its last checkpoint: its signature does not fit"],
    );
}

#[tokio::test]
async fn a_record_is_proved_without_the_ledger_and_nothing_that_was_changed_is() {
    let home = ledger(300).await;
    for (from, seq) in [
        (&CONFIG[..], "7"),
        (
            &["--export", "out", "--public-key", "data/keys/ledger.pub"],
            "300",
        ),
    ] {
        assert_eq!(run(&home, &["export", "out"], &CONFIG).await.code, 0);
        let proof = run(&home, &["prove", seq], from).await;
        assert_eq!(proof.code, 0, "{proof:?}");
        let record: Value = serde_json::from_str(proof.out.lines().next().unwrap()).unwrap();
        assert_eq!(record["seq"].to_string(), seq);
        home.write("proof.txt", &proof.out);
        let check = async || {
            run(
                &home,
                &["check-proof", "proof.txt"],
                &["--public-key", "data/keys/ledger.pub"],
            )
            .await
        };
        assert_holds(
            &check().await,
            &[&format!(
                "record {seq} is in the log example.org/log, as of its checkpoint of 300 records: call_refused at 1970"
            )],
        );
        let index = seq.parse::<u64>().unwrap() - 1;
        for (from, to, wanted) in [
            (
                "call_refused",
                "call_started",
                "the record is not the one at place",
            ),
            (
                &*format!("\nindex {index}\n"),
                "\nindex 9\n",
                "the record is not the one at place 10 of the 300",
            ),
            (
                "\n300\n",
                "\n299\n",
                "its checkpoint: its signature does not fit its text",
            ),
            (
                "c2sp.org/tlog-proof@v1",
                "proof",
                "it has not the form of a proof",
            ),
            ("\n\n", "\n", "it has not the form of a proof"),
        ] {
            assert!(proof.out.contains(from), "{from:?}");
            home.write("proof.txt", &proof.out.replacen(from, to, 1));
            assert_told(&check().await, &["proof.txt: proves nothing: ", wanted]);
        }
    }
    let other = Notary::open(&home.path("other"), Some("example.org/log"), 4).unwrap();
    drop(other);
    let told = run(
        &home,
        &["check-proof", "proof.txt"],
        &["--public-key", "other/ledger.pub"],
    )
    .await;
    assert_eq!(told.code, 1);
    for (seq, wanted) in [
        ("0", "they are numbered from 1"),
        ("301", "there is no record 301"),
    ] {
        assert_told(&run(&home, &["prove", seq], &CONFIG).await, &[wanted]);
    }
}

#[tokio::test]
async fn a_record_after_the_newest_checkpoint_is_not_vouched_for_and_is_told_so() {
    let home = Home::sample();
    let store = open(&home, 4).await;
    append(&store, 6).await;
    store.close().await;
    assert_holds(
        &verify(&home, &[]).await,
        &[
            "6 records",
            "a checkpoint vouches for the first 4, and none yet for the last 2",
        ],
    );
    assert_told(
        &run(&home, &["prove", "5"], &CONFIG).await,
        &["record 5 came after the newest checkpoint, which is of 4 records"],
    );
    assert_eq!(run(&home, &["prove", "4"], &CONFIG).await.code, 0);
}

#[tokio::test]
async fn an_export_is_laid_out_as_the_specification_has_it_and_every_file_of_it_counts() {
    let home = ledger(300).await;
    assert_eq!(run(&home, &["export", "out"], &CONFIG).await.code, 0);
    let export = ["--export", "out", "--public-key", "data/keys/ledger.pub"];
    let size = |name: &str| {
        std::fs::metadata(home.path("out").join(name))
            .unwrap()
            .len()
    };
    assert_eq!(size("tile/0/000"), 256 * 32);
    assert_eq!(size("tile/0/001.p/44"), 44 * 32);
    assert_eq!(size("tile/1/000.p/1"), 32);
    // The first entry, behind its length.
    let bundle = std::fs::read(home.path("out/tile/entries/000")).unwrap();
    let length = usize::from(u16::from_be_bytes([bundle[0], bundle[1]]));
    let first: Value = serde_json::from_slice(&bundle[2..2 + length]).unwrap();
    assert_eq!(first["seq"], 1);
    for (name, wanted) in [
        (
            "tile/0/000",
            "tile 0/0 of the tree is not that of records 1 to 256",
        ),
        (
            "tile/0/001.p/44",
            "tile 0/1 of the tree is not that of records 257 to 300",
        ),
        (
            "tile/1/000.p/1",
            "tile 1/0 of the tree is not that of records 1 to 256",
        ),
        ("tile/entries/000", "record "),
        ("tile/entries/001.p/44", "record "),
        ("checkpoint", "checkpoint"),
    ] {
        let path = home.path("out").join(name);
        let good = std::fs::read(&path).unwrap();
        let mut bad = good.clone();
        bad[20] ^= 1;
        std::fs::write(&path, &bad).unwrap();
        assert_told(&run(&home, &["verify"], &export).await, &[wanted]);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(
            run(&home, &["verify"], &export).await.code,
            1,
            "{name} is gone"
        );
        std::fs::write(&path, &good).unwrap();
    }
    assert_eq!(run(&home, &["verify"], &export).await.code, 0);
    // An export goes on where it was.
    grow(&home, 10).await;
    assert_eq!(run(&home, &["export", "out"], &CONFIG).await.code, 0);
    assert_holds(&run(&home, &["verify"], &export).await, &["310 records"]);
    assert_eq!(run(&home, &["verify"], &["--export", "out"]).await.code, 2);
}

#[tokio::test]
async fn a_kernel_signs_at_its_start_at_its_stop_and_when_it_is_asked() {
    let home = Home::sample();
    let serving = home.serve().await;
    let client = home.client_config(&serving);
    let newest = async || run(&home, &["checkpoint"], &CONFIG).await.out;
    let origin = home.read("data/keys/ledger.pub");
    let origin = origin.split('+').next().unwrap().to_owned();
    assert!(origin.starts_with("actum/"), "{origin}");
    assert!(newest().await.starts_with(&format!("{origin}\n1\n")));
    serving.task(&home, "public_chat", "stranger").await;
    assert!(newest().await.starts_with(&format!("{origin}\n1\n")));
    let signed = run(&home, &["checkpoint", "--sign"], &["--config", &client]).await;
    assert!(
        signed.out.starts_with(&format!("{origin}\n2\n")),
        "{signed:?}"
    );
    assert_eq!(newest().await, signed.out);
    // Nobody but the owner has it signed.
    let url = format!("{}/v1/owner/ledger/checkpoint", serving.url);
    let refused = serving
        .client
        .post(url)
        .bearer_auth(home.key("connector-public_chat"));
    assert_eq!(refused.send().await.unwrap().status(), 401);
    serving.terminate().await;
    assert!(newest().await.starts_with(&format!("{origin}\n3\n")));
    assert_holds(
        &verify(&home, &[]).await,
        &["3 records", "a checkpoint vouches for all of them"],
    );
    assert_told(
        &run(&home, &["checkpoint", "--sign"], &["--config", &client]).await,
        &["no kernel answers"],
    );
}

#[tokio::test]
async fn a_kernel_signs_after_so_many_records_or_seconds() {
    for (setting, enough) in [("checkpoint_records: 2", 3), ("checkpoint_seconds: 1", 2)] {
        let home = Home::sample();
        home.write(
            "actum.yaml",
            &format!(
                "{}\nledger:\n  origin: example.org/ours\n  {setting}\n",
                home.read("actum.yaml")
            ),
        );
        let serving = home.serve().await;
        for _ in 1..enough {
            serving.task(&home, "public_chat", "stranger").await;
        }
        let wanted = format!("example.org/ours\n{enough}\n");
        let begun = std::time::Instant::now();
        while !run(&home, &["checkpoint"], &CONFIG)
            .await
            .out
            .starts_with(&wanted)
        {
            assert!(begun.elapsed().as_secs() < 60, "{setting}");
        }
        serving.terminate().await;
    }
}

#[tokio::test]
async fn no_kernel_goes_on_with_a_ledger_that_is_not_what_was_signed() {
    type Change = fn(&Path);
    let none: Change = |_| {};
    let another_key: Change = |keys| {
        std::fs::remove_file(keys.join("ledger.key")).unwrap();
        std::fs::remove_file(keys.join("ledger.pub")).unwrap();
    };
    for (sql, change, wanted) in [
        (
            "",
            another_key,
            "the newest checkpoint of its ledger: it is signed by another key",
        ),
        (
            "DELETE FROM audit WHERE seq > 9",
            none,
            "the ledger has 9 records, and its tree 10 leaves",
        ),
        (
            "DELETE FROM audit WHERE seq > 9; UPDATE ledger_tiles SET hashes = substr(hashes, 1, 9 * 32)",
            none,
            "its ledger was cut off: it has 9 records, and its newest checkpoint is of 10",
        ),
        (
            "UPDATE ledger_tiles SET hashes = zeroblob(length(hashes))",
            none,
            "its ledger does not begin with the 10 records that its newest checkpoint was signed over",
        ),
    ] {
        let home = ledger(10).await;
        tamper(&home, sql).await;
        change(&home.path("data/keys"));
        let ended = home.actum(&["serve", "--config", "actum.yaml"]).await;
        assert_told(&ended, &["actum.db: ", wanted]);
    }
    let home = ledger(10).await;
    home.write(
        "actum.yaml",
        &format!(
            "{}\nledger: {{ origin: example.org/other }}\n",
            home.read("actum.yaml")
        ),
    );
    let ended = home.actum(&["serve", "--config", "actum.yaml"]).await;
    assert_told(
        &ended,
        &[
            "ledger.key: is the key of the log `example.org/log`, and `ledger.origin` is `example.org/other`",
        ],
    );
}

/// Takes from a store what an earlier version did not have.
const EARLIER: &str = "DROP TABLE ledger_tiles; DROP TABLE ledger_checkpoints; DELETE FROM _sqlx_migrations WHERE version = 3";

#[tokio::test]
async fn the_chain_of_an_earlier_version_becomes_a_tree_and_a_broken_one_does_not() {
    let home = ledger(600).await;
    let before = run(&home, &["checkpoint"], &CONFIG).await.out;
    tamper(&home, EARLIER).await;
    assert_told(
        &verify(&home, &[]).await,
        &["no checkpoint of its own vouches for it; the kernel signs one when it starts"],
    );
    grow(&home, 0).await;
    // The tree is the one that it would have had from the beginning.
    assert_eq!(run(&home, &["checkpoint"], &CONFIG).await.out, before);
    assert_holds(&verify(&home, &[]).await, &["600 records"]);

    let home = ledger(10).await;
    tamper(
        &home,
        &format!("{EARLIER}; UPDATE audit SET body = '{{}}' WHERE seq = 3"),
    )
    .await;
    let ended = home.actum(&["serve", "--config", "actum.yaml"]).await;
    assert_told(
        &ended,
        &[
            "actum.db: its ledger does not hold, so that no kernel can go on with it: record 3 was changed after it was written",
        ],
    );
    let mut file = raw(&home).await;
    let tiles = sqlx::query("SELECT count(*) AS tiles FROM ledger_tiles");
    let tiles: i64 = tiles.fetch_one(&mut file).await.unwrap().get("tiles");
    assert_eq!(tiles, 0, "nothing was taken over");
}

#[tokio::test]
async fn a_record_that_no_bundle_has_room_for_is_refused_and_leaves_no_trace() {
    let home = Home::sample();
    let store = open(&home, 4).await;
    append(&store, 2).await;
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
    append(&store, 2).await;
    store.close().await;
    assert_holds(
        &verify(&home, &[]).await,
        &["4 records", "vouches for all of them"],
    );
}

#[tokio::test]
async fn the_database_itself_takes_nothing_back() {
    let home = ledger(10).await;
    let mut file = raw(&home).await;
    for change in [
        "UPDATE ledger_tiles SET hashes = zeroblob(length(hashes))",
        "UPDATE ledger_tiles SET hashes = substr(hashes, 1, 32)",
        "UPDATE ledger_tiles SET place = 7",
        "DELETE FROM ledger_tiles",
        "UPDATE ledger_checkpoints SET note = ''",
        "DELETE FROM ledger_checkpoints",
    ] {
        let told = sqlx::query(change).execute(&mut file).await.unwrap_err();
        assert!(told.to_string().contains("append-only"), "{change}: {told}");
    }
}

#[tokio::test]
async fn faults_of_the_configuration_are_told_with_their_place() {
    let home = Home::sample();
    let good = home.read("actum.yaml");
    for (setting, wanted) in [
        (
            "origin: two words",
            "`ledger.origin`: `two words` is no origin",
        ),
        ("origin: a+b", "`ledger.origin`: `a+b` is no origin"),
        ("origin: ''", "`ledger.origin`: `` is no origin"),
        (
            "checkpoint_records: 0",
            "`ledger.checkpoint_records`: is out of bounds",
        ),
        (
            "checkpoint_seconds: 86401",
            "`ledger.checkpoint_seconds`: is out of bounds",
        ),
        ("every: 5", "every"),
    ] {
        home.write("actum.yaml", &format!("{good}\nledger: {{ {setting} }}\n"));
        let ended = home.actum(&["serve", "--config", "actum.yaml"]).await;
        assert_told(&ended, &["actum.yaml:", wanted]);
    }
}
