//! What the compiler says of `#[action]`: one case for each mistake, with the exact words.
//!
//! `TRYBUILD=overwrite cargo test --test ui` writes the words down anew; read them before you keep
//! them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

/// The folders of mistakes; `pass` holds what compiles, and runs.
const MISTAKES: [&str; 12] = [
    "argument",
    "asks",
    "description",
    "egress",
    "host",
    "id",
    "output",
    "payload",
    "reading",
    "redact",
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
    let run = MISTAKES.into_iter().chain(["pass"]).map(str::to_owned);
    assert_eq!(names_in("ui"), run.collect());
}

#[test]
fn there_are_cases_enough_and_no_words_without_a_case() {
    let mut cases = 0;
    for folder in MISTAKES {
        let names = names_in(&format!("ui/{folder}"));
        let ending = |end| names.iter().filter_map(move |name| name.strip_suffix(end));
        cases += ending(".rs").count();
        let left: Vec<_> = ending(".stderr")
            .filter(|name| !names.contains(&format!("{name}.rs")))
            .collect();
        assert!(left.is_empty(), "{folder}: no case says {left:?}");
    }
    assert!(cases >= 220, "{cases} cases");
}

fn names_in(folder: &str) -> BTreeSet<String> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}
