//! What the compiler says of `#[action]`: one case for each mistake, with the exact words.
//!
//! `TRYBUILD=overwrite cargo test --test ui` writes the words down anew; read them before you keep
//! them.

use std::collections::BTreeSet;

/// The folders of mistakes; `pass` holds what compiles, and runs.
const MISTAKES: [&str; 9] = [
    "argument",
    "description",
    "egress",
    "host",
    "id",
    "output",
    "payload",
    "several",
    "signature",
];

// Apart from the cases that pass: trybuild checks all mistakes in one build where there are no
// others.
#[test]
fn every_mistake_is_told_at_its_token_with_the_remedy() {
    let cases = trybuild::TestCases::new();
    for folder in MISTAKES {
        cases.compile_fail(format!("ui/{folder}/*.rs"));
    }
}

#[test]
fn everything_else_compiles_and_runs() {
    trybuild::TestCases::new().pass("ui/pass/*.rs");
}

#[test]
fn no_folder_of_cases_is_left_out() {
    let found: BTreeSet<String> = std::fs::read_dir("ui")
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let run = MISTAKES.into_iter().chain(["pass"]).map(str::to_owned);
    assert_eq!(found, run.collect());
}
