//! The binary with its sample: two actors, two sets of tools.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Runs the binary on the sample; what it printed. Neither command writes anything.
fn run(arguments: &[&str]) -> String {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample");
    let output = Command::new(env!("CARGO_BIN_EXE_taskboard"))
        .current_dir(sample)
        .args(arguments)
        .args(["--config", "actum.yaml"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn tools_of(event: &str) -> BTreeSet<String> {
    let printed: Value =
        serde_json::from_str(&run(&["project", "--json", "--event", event])).unwrap();
    let tools = printed.pointer("/catalog/tools").unwrap();
    let tools = tools.as_array().unwrap();
    let name = |tool: &Value| tool.get("name").unwrap().as_str().unwrap().to_owned();
    tools.iter().map(name).collect()
}

#[test]
fn the_sample_grants_nothing_that_is_missing() {
    run(&["check"]);
}

#[test]
fn each_actor_sees_the_tools_of_its_own_grant() {
    let [ada, bert, cleo, trial] =
        ["ada", "bert", "cleo", "ada-trial"].map(|name| tools_of(&format!("events/{name}.json")));
    assert_eq!([&ada, &bert, &cleo].map(BTreeSet::len), [20, 31, 19]);
    let only = |one: &BTreeSet<String>, tool| {
        assert!(one.contains(tool), "{tool}");
        let others = [&ada, &bert, &cleo]
            .into_iter()
            .filter(|tools| *tools != one);
        assert!(
            others.into_iter().all(|tools| !tools.contains(tool)),
            "{tool}"
        );
    };
    only(&ada, "control_workspace_service");
    only(&bert, "upsert_case");
    only(&cleo, "read_secret_value");
    let gained: Vec<_> = trial.difference(&ada).collect();
    assert_eq!(gained, ["generic_api_request"]);
    assert!(trial.is_superset(&ada));
}

/// What `serve` says that refuses to start in a folder, with one variable set.
fn refused_start(home: &Path, variable: (&str, &OsStr)) -> String {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample");
    // The sample's configuration, on a port that is free and with its data in this folder.
    let config = std::fs::read_to_string(sample.join("actum.yaml")).unwrap();
    let manifests = format!("manifests: {}", sample.join("manifests").display());
    let changed: Vec<_> = config
        .lines()
        .map(|line| match line.split(':').next() {
            Some("listen") => "listen: 127.0.0.1:0",
            Some("data") => "data: data",
            Some("manifests") => manifests.as_str(),
            _ => line,
        })
        .collect();
    std::fs::write(home.join("actum.yaml"), changed.join("\n")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_taskboard"))
        .current_dir(home)
        .env(variable.0, variable.1)
        .args(["serve", "--config", "actum.yaml"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{said}");
    assert!(
        !home.join("data").join("actum.db").exists(),
        "the kernel's store was touched"
    );
    said
}

#[test]
fn a_board_that_cannot_be_opened_stops_the_start() {
    let home = tempfile::tempdir().unwrap();
    let board = home.path().join("board.db");
    std::fs::write(
        &board,
        "no database, and long enough to be taken for the header of one",
    )
    .unwrap();
    let said = refused_start(home.path(), ("TASKBOARD_FILE", board.as_os_str()));
    assert!(said.contains("board.db"), "{said}");
}

#[test]
fn an_api_at_no_address_stops_the_start_and_is_not_repeated() {
    let home = tempfile::tempdir().unwrap();
    let address = "https://ada:password@api.example.org";
    let said = refused_start(home.path(), ("TASKBOARD_API", address.as_ref()));
    assert!(
        said.contains("TASKBOARD_API: ") && said.contains("without user"),
        "{said}"
    );
    assert!(!said.contains("password"), "{said}");
}
