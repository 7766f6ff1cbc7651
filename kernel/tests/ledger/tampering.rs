//! What somebody with the database in hand can do to the ledger, and where it shows.

use actum_kernel::ledger::Head;
use actum_kernel::ledger::tree::Edge;
use tlog_tiles::record_hash;

use crate::fixture::{Backend, Ledger, assert_told, entry};

suite! {
    every_tampering_with_the_database_is_told,
    a_log_that_was_written_anew_with_a_chain_and_a_tree_that_hold_is_told_by_its_signatures,
}

/// What somebody with the database in hand can do, and how it is told. The ledger has ten records and checkpoints of four,
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

async fn every_tampering_with_the_database_is_told(backend: Backend) {
    for (change, wanted) in TAMPERINGS {
        let home = backend.ledger(10).await;
        assert_eq!(home.verify(&[]).await.code, 0);
        home.tamper(change).await;
        let told = home.verify(&[]).await;
        assert_told(&told, &["the ledger does not hold: "]);
        assert_told(&told, wanted);
    }
}

/// The records and the tree of a ledger of its own, put in place of another's.
async fn rewrite(home: &Ledger, records: u64) {
    let (mut head, mut edge) = (Head::empty(), Edge::default());
    let mut change = "DELETE FROM audit; DELETE FROM ledger_tiles;".to_owned();
    for n in 0..records {
        let record = head.next(entry(n + 100)).unwrap();
        head = (&record).into();
        assert!(edge.push(record_hash(&record.entry().unwrap())).is_empty());
        let (seq, at, kind, body) = (record.seq, &record.at, &record.kind, &record.body);
        let (prev, digest) = (record.prev, record.digest);
        change.push_str(&format!(
            "INSERT INTO audit VALUES ({seq}, '{at}', '{kind}', '{body}', '{prev}', '{digest}');"
        ));
    }
    let (_, tile) = edge.partial().next().unwrap();
    let tile: String = tile.iter().map(|byte| format!("{byte:02x}")).collect();
    change.push_str(&format!(
        "INSERT INTO ledger_tiles VALUES (0, 0, X'{tile}')"
    ));
    home.tamper(&change).await;
}

async fn a_log_that_was_written_anew_with_a_chain_and_a_tree_that_hold_is_told_by_its_signatures(
    backend: Backend,
) {
    let home = backend.ledger(10).await;
    rewrite(&home, 10).await;
    assert_told(
        &home.verify(&[]).await,
        &[
            "the ledger does not hold: records 1 to 4 are not all those that a stored checkpoint was signed over",
        ],
    );
    // Nothing but the first checkpoint that does not fit is told of one cause.
    assert_eq!(home.verify(&[]).await.err.lines().count(), 1);
}
