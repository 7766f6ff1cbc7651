//! Proofs of one record.

use actum_kernel::ledger::notary::Notary;
use serde_json::Value;

use crate::fixture::{Backend, CONFIG, append, assert_holds, assert_told};

suite! {
    a_record_is_proved_without_the_ledger_and_nothing_that_was_changed_is,
    a_record_after_the_newest_checkpoint_is_not_vouched_for_and_is_told_so,
}

async fn a_record_is_proved_without_the_ledger_and_nothing_that_was_changed_is(backend: Backend) {
    let home = backend.ledger(300).await;
    for (from, seq) in [
        (&CONFIG[..], "7"),
        (
            &["--export", "out", "--public-key", "data/keys/ledger.pub"],
            "300",
        ),
    ] {
        assert_eq!(home.run(&["export", "out"], &CONFIG).await.code, 0);
        let proof = home.run(&["prove", seq], from).await;
        assert_eq!(proof.code, 0, "{proof:?}");
        let record: Value = serde_json::from_str(proof.out.lines().next().unwrap()).unwrap();
        assert_eq!(record["seq"].to_string(), seq);
        home.write("proof.txt", &proof.out);
        let check = async || {
            home.run(
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
    let told = home
        .run(
            &["check-proof", "proof.txt"],
            &["--public-key", "other/ledger.pub"],
        )
        .await;
    assert_eq!(told.code, 1);
    for (seq, wanted) in [
        ("0", "they are numbered from 1"),
        ("301", "there is no record 301"),
    ] {
        assert_told(&home.run(&["prove", seq], &CONFIG).await, &[wanted]);
    }
}

async fn a_record_after_the_newest_checkpoint_is_not_vouched_for_and_is_told_so(backend: Backend) {
    let home = backend.home().await;
    let store = home.open(4).await;
    append(&*store, 6).await;
    store.close().await;
    assert_holds(
        &home.verify(&[]).await,
        &[
            "6 records",
            "a checkpoint vouches for the first 4, and none yet for the last 2",
        ],
    );
    assert_told(
        &home.run(&["prove", "5"], &CONFIG).await,
        &["record 5 came after the newest checkpoint, which is of 4 records"],
    );
    assert_eq!(home.run(&["prove", "4"], &CONFIG).await.code, 0);
}
