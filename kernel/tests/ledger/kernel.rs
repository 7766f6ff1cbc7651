//! A kernel and its ledger: when it signs, and when it does not start.

use std::path::Path;

use crate::fixture::{Backend, CONFIG, assert_holds, assert_told};
use crate::process::Home;

suite! {
    a_kernel_signs_at_its_start_at_its_stop_and_when_it_is_asked,
    a_kernel_signs_after_so_many_records_or_seconds,
    no_kernel_goes_on_with_a_ledger_that_is_not_what_was_signed,
}

async fn a_kernel_signs_at_its_start_at_its_stop_and_when_it_is_asked(backend: Backend) {
    let home = backend.home().await;
    let serving = home.serve().await;
    let client = home.client_config(&serving);
    let newest = async || home.run(&["checkpoint"], &CONFIG).await.out;
    let origin = home.read("data/keys/ledger.pub");
    let origin = origin.split('+').next().unwrap().to_owned();
    assert!(origin.starts_with("actum/"), "{origin}");
    assert!(newest().await.starts_with(&format!("{origin}\n1\n")));
    serving.task(&home, "public_chat", "stranger").await;
    assert!(newest().await.starts_with(&format!("{origin}\n1\n")));
    let signed = home
        .run(&["checkpoint", "--sign"], &["--config", &client])
        .await;
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
        &home.verify(&[]).await,
        &["3 records", "a checkpoint vouches for all of them"],
    );
    assert_told(
        &home
            .run(&["checkpoint", "--sign"], &["--config", &client])
            .await,
        &["no kernel answers"],
    );
}

async fn a_kernel_signs_after_so_many_records_or_seconds(backend: Backend) {
    for (setting, enough) in [("checkpoint_records: 2", 3), ("checkpoint_seconds: 1", 2)] {
        let home = backend.home().await;
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
        while !home
            .run(&["checkpoint"], &CONFIG)
            .await
            .out
            .starts_with(&wanted)
        {
            assert!(begun.elapsed().as_secs() < 60, "{setting}");
        }
        serving.terminate().await;
    }
}

async fn no_kernel_goes_on_with_a_ledger_that_is_not_what_was_signed(backend: Backend) {
    type Change = fn(&Path);
    let none: Change = |_| {};
    let (head, remedy) = match backend {
        Backend::Sqlite => ("", "put the keys/ledger.key back that signed it"),
        Backend::Postgres => (
            "; UPDATE ledger_head SET seq = 9, digest = (SELECT digest FROM audit WHERE seq = 9)",
            "copy `keys/ledger.key` and `keys/ledger.pub` of the kernel that signed it",
        ),
    };
    let cut_off = format!(
        "DELETE FROM audit WHERE seq > 9; UPDATE ledger_tiles SET hashes = substr(hashes, 1, 9 * 32){head}"
    );
    let another_key: Change = |keys| {
        std::fs::remove_file(keys.join("ledger.key")).unwrap();
        std::fs::remove_file(keys.join("ledger.pub")).unwrap();
    };
    for (sql, change, wanted) in [
        ("", another_key, remedy),
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
            &cut_off,
            none,
            "its ledger was cut off: it has 9 records, and its newest checkpoint is of 10",
        ),
        (
            "UPDATE ledger_tiles SET hashes = zeroblob(length(hashes))",
            none,
            "its ledger does not begin with the 10 records that its newest checkpoint was signed over",
        ),
    ] {
        let home = backend.ledger(10).await;
        home.tamper(sql).await;
        change(&home.path("data/keys"));
        let ended = home.actum(&["serve", "--config", "actum.yaml"]).await;
        assert_told(&ended, &[&*home.named().to_string_lossy(), wanted]);
    }
    let home = backend.ledger(10).await;
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
