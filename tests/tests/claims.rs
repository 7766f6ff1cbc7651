//! Every test that `CLAIMS.md` names stands in the source. That each of them also ran and passed is
//! held against the log of the whole run, by `claims`, in CI.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use actum_tests::claims::{Claim, parse};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn claims() -> Vec<Claim> {
    parse(&std::fs::read_to_string(root().join("CLAIMS.md")).unwrap())
}

fn sources(folder: &Path, found: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                sources(&path, found);
            }
        } else if name.ends_with(".rs") {
            found.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_named_test_stands_in_the_source() {
    let mut all = String::new();
    sources(&root(), &mut all);
    let claims = claims();
    assert!(claims.len() > 20, "{} claims", claims.len());
    let missing: Vec<String> = claims
        .iter()
        .flat_map(|claim| claim.tests.iter().map(move |test| (claim, test)))
        .filter(|(_, test)| {
            let name = test.rsplit("::").next().unwrap();
            !all.contains(&format!("fn {name}("))
        })
        .map(|(claim, test)| format!("CLAIMS.md:{}: {}: `{test}`", claim.line, claim.row))
        .collect();
    assert!(missing.is_empty(), "no such test:\n{}", missing.join("\n"));
}

/// The rows that this version claims. Those that it does not are listed in `CLAIMS.md` below them.
#[test]
fn every_row_of_the_spine_is_claimed_with_a_test() {
    let claims = claims();
    for row in [
        "A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8", "A9", "A10", "A11", "B1", "B2", "B3", "B4",
        "B6", "B7", "B8", "C1", "C2", "C3", "C5", "C6", "D1", "D2", "D3", "D4", "D6", "E1", "E7",
    ] {
        let claim = claims.iter().find(|claim| claim.row == row);
        assert!(
            claim.is_some_and(|claim| !claim.tests.is_empty()),
            "{row} is not claimed"
        );
    }
}
