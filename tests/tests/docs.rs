//! The guide for handler authors says what the macro says.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs::read_to_string;
use std::path::Path;

const GUIDE: &str = "../docs/actions.md";

/// Every line of what the compiler says in the cases of `ui`.
fn compiler_lines() -> Vec<String> {
    let mut lines = Vec::new();
    for folder in std::fs::read_dir("ui").unwrap() {
        for case in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = case.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "stderr") {
                lines.extend(read_to_string(path).unwrap().lines().map(str::to_owned));
            }
        }
    }
    lines
}

#[test]
fn each_error_that_the_guide_quotes_is_one_that_the_compiler_says() {
    let said = compiler_lines();
    let guide = read_to_string(GUIDE).unwrap();
    let quoted: Vec<_> = guide
        .lines()
        .filter(|line| line.starts_with("error"))
        .collect();
    assert!(quoted.len() > 12, "{quoted:#?}");
    let made_up: Vec<_> = quoted
        .iter()
        .filter(|line| !said.iter().any(|one| one == *line))
        .collect();
    assert!(made_up.is_empty(), "{made_up:#?}");
}

#[test]
fn the_guide_has_every_argument_of_the_annotation() {
    // An argument that is like none is answered with all that there are.
    let said = read_to_string("ui/argument/unknown_near_none.stderr").unwrap();
    let list = said
        .lines()
        .next()
        .unwrap()
        .split("known are ")
        .nth(1)
        .unwrap();
    let arguments: Vec<_> = list
        .split(", ")
        .map(|name| name.trim_matches('`'))
        .collect();
    assert!(arguments.len() >= 12, "{arguments:?}");
    let guide = read_to_string(GUIDE).unwrap();
    let headings: Vec<_> = guide
        .lines()
        .filter(|line| line.starts_with("### "))
        .collect();
    let missing: Vec<_> = arguments
        .iter()
        .filter(|name| {
            let is_in = |heading: &&str| {
                heading
                    .split('`')
                    .skip(1)
                    .step_by(2)
                    .any(|code| code.split([' ', '(']).next() == Some(**name))
            };
            !headings.iter().any(is_in)
        })
        .collect();
    assert!(missing.is_empty(), "{GUIDE} has no section for {missing:?}");
}

#[test]
fn every_link_of_the_guides_leads_somewhere() {
    let root = Path::new("..");
    for file in [
        "README.md",
        "ARCHITECTURE.md",
        "docs/actions.md",
        "docs/coming-from.md",
        "docs/configuration.md",
        "docs/manifests.md",
        "docs/mcp.md",
        "docs/workers.md",
    ] {
        let text = read_to_string(root.join(file)).unwrap();
        let folder = root.join(file).parent().unwrap().to_owned();
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let path = target.split('#').next().unwrap();
            if !path.is_empty() && !path.contains("://") {
                assert!(folder.join(path).exists(), "{file} links to {target}");
            }
        }
    }
}
