//! What a checkpoint that was kept finds, and what a witness does.

use crate::fixture::{Backend, CONFIG, Ledger, assert_holds, assert_told};

suite! {
    checkpoints_of_another_key_vouch_for_nothing,
    a_checkpoint_that_was_kept_finds_what_the_holder_of_the_key_did,
    a_witness_keeps_what_grew_and_refuses_what_did_not,
}

async fn checkpoints_of_another_key_vouch_for_nothing(backend: Backend) {
    let kept = backend.ledger(10).await.read("data/keys/ledger.pub");
    let home = backend.ledger(10).await;
    home.write("kept.pub", &kept);
    assert_holds(&home.verify(&[]).await, &["10 records"]);
    let told = home.verify(&["--public-key", "kept.pub"]).await;
    assert_told(
        &told,
        &["a stored checkpoint: it is signed by another key than example.org/log+"],
    );
    assert_told(
        &home
            .run(
                &["checkpoint"],
                &[&CONFIG[..], &["--public-key", "kept.pub"]].concat(),
            )
            .await,
        &["signed by another key"],
    );
}

async fn a_checkpoint_that_was_kept_finds_what_the_holder_of_the_key_did(backend: Backend) {
    let home = backend.ledger(10).await;
    let kept = home.run(&["checkpoint"], &CONFIG).await;
    assert_eq!(kept.code, 0, "{kept:?}");
    home.write("kept.txt", &kept.out);
    let with = ["--checkpoint", "kept.txt"];
    assert_holds(
        &home.verify(&with).await,
        &["it goes on from the checkpoint that was kept"],
    );
    home.grow(3).await;
    assert_holds(&home.verify(&with).await, &["13 records"]);

    // Cut off so that everything that is left fits: only the one who kept a checkpoint can tell.
    home.tamper(
        "DELETE FROM audit WHERE seq > 8; DELETE FROM ledger_checkpoints WHERE size > 8;
         UPDATE ledger_tiles SET hashes = substr(hashes, 1, 8 * 32)",
    )
    .await;
    assert_holds(
        &home.verify(&[]).await,
        &["8 records", "a cut end could go unseen"],
    );
    assert_told(
        &home.verify(&with).await,
        &[
            "its end was cut off: there are 8 records, and the checkpoint in kept.txt was signed over 10; those from 9 to 10 are missing",
        ],
    );

    // Written anew and signed with the same key; the first eight records are as they were.
    let home = home.anew(8, &["kept.txt"]).await;
    home.grow(7).await;
    assert_holds(&home.verify(&[]).await, &["15 records"]);
    assert_told(
        &home.verify(&with).await,
        &["records 9 to 10 are not all those that the checkpoint in kept.txt was signed over"],
    );
    home.write("nothing.txt", "");
    assert_told(
        &home.verify(&["--checkpoint", "nothing.txt"]).await,
        &["nothing.txt: has no checkpoint"],
    );
    assert_told(
        &home.verify(&["--checkpoint", "gone.txt"]).await,
        &["gone.txt: cannot be read"],
    );
}

async fn a_witness_keeps_what_grew_and_refuses_what_did_not(backend: Backend) {
    let home = backend.ledger(5).await;
    home.write("kept.pub", &home.read("data/keys/ledger.pub"));
    let witness = async |home: &Ledger, from: &[&str]| {
        let more = [&["--public-key", "kept.pub", "--file", "witness.txt"], from].concat();
        home.run(&["witness"], &more).await
    };
    assert_holds(
        &witness(&home, &CONFIG).await,
        &["kept the first checkpoint, of 5 records"],
    );
    assert_holds(&witness(&home, &CONFIG).await, &["nothing new: 5 records"]);
    home.grow(300).await;
    // Another machine has an export alone.
    assert_eq!(home.run(&["export", "out"], &CONFIG).await.code, 0);
    assert_holds(
        &witness(&home, &["--export", "out"]).await,
        &["the ledger only grew: from 5 to 305 records"],
    );
    let kept = home.read("witness.txt");
    assert_eq!(kept.matches("\n— example.org/log ").count(), 2, "{kept}");
    // The whole file is good for `verify`.
    let all = home.verify(&["--checkpoint", "witness.txt"]).await;
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
        let other = home.anew(records, &["kept.pub", "witness.txt"]).await;
        assert_told(&witness(&other, &CONFIG).await, &[wanted]);
        assert_eq!(other.read("witness.txt"), kept, "the file stays as it was");
    }
    home.write("witness.txt", &kept.replace("\n305\n", "\n306\n"));
    assert_told(
        &witness(&home, &CONFIG).await,
        &["witness.txt: its last checkpoint: its signature does not fit"],
    );
}
