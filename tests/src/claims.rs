//! `CLAIMS.md`: which tests prove which row of the specification.
//!
//! A row of its table is `| A1 | ... | tests |`, with each test in backquotes as
//! `target::path::of::test`. The target is what cargo calls the binary: the crate for unit tests
//! (`actum`, `actum_kernel`), the file for integration tests (`absence`).

use std::collections::{BTreeMap, BTreeSet};

/// A claim: a row of the specification, and the tests that prove it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The row, such as `A1`.
    pub row: String,
    /// The line in `CLAIMS.md`, from 1.
    pub line: usize,
    /// The tests.
    pub tests: Vec<String>,
}

/// Reads the claims.
#[must_use]
pub fn parse(text: &str) -> Vec<Claim> {
    text.lines()
        .enumerate()
        .filter_map(|(index, line)| {
            let mut cells = line.trim().strip_prefix('|')?.split('|').map(str::trim);
            let row = cells.next().filter(|row| is_row(row))?;
            let tests = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
            Some(Claim {
                row: row.to_owned(),
                line: index + 1,
                tests: tests
                    .filter(|test| test.contains("::"))
                    .map(str::to_owned)
                    .collect(),
            })
        })
        .collect()
}

fn is_row(text: &str) -> bool {
    let mut letters = text.chars();
    letters
        .next()
        .is_some_and(|letter| letter.is_ascii_uppercase())
        && text.len() > 1
        && letters.all(|letter| letter.is_ascii_digit())
}

/// What `cargo test` printed: each test, and whether it passed.
#[must_use]
pub fn ran(log: &str) -> BTreeMap<String, bool> {
    let mut target = String::new();
    let mut found = BTreeMap::new();
    for line in log.lines() {
        let line = line.trim();
        if line.starts_with("Running ") {
            target = line
                .rsplit_once("deps/")
                .map_or("", |(_, file)| file)
                .to_owned();
            // `absence-0123456789abcdef)`
            if let Some((name, _)) = target.clone().rsplit_once('-') {
                name.clone_into(&mut target);
            }
        } else if line.starts_with("Doc-tests ") {
            "doc".clone_into(&mut target);
        } else if let Some((name, result)) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.split_once(" ... "))
        {
            found.insert(format!("{target}::{name}"), result == "ok");
        }
    }
    found
}

/// What is wrong with the claims, given what ran.
#[must_use]
pub fn judge(claims: &[Claim], ran: &BTreeMap<String, bool>) -> Vec<String> {
    let mut problems = Vec::new();
    let mut rows = BTreeSet::new();
    for claim in claims {
        let at = format!("CLAIMS.md:{}: {}", claim.line, claim.row);
        if !rows.insert(&claim.row) {
            problems.push(format!("{at} stands twice"));
        }
        for test in &claim.tests {
            match ran.get(test) {
                Some(true) => {}
                Some(false) => problems.push(format!("{at}: `{test}` did not pass")),
                None => problems.push(format!("{at}: `{test}` did not run")),
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "
     Running unittests src/lib.rs (target/debug/deps/actum_kernel-0a1b2c3d4e5f6071)
running 1 test
test store::tests::keeps ... ok
     Running tests/absence.rs (/x/target/debug/deps/absence-0a1b2c3d4e5f6071)
test says_nothing ... FAILED
   Doc-tests actum
test core/src/lib.rs - (line 6) ... ok
";

    #[test]
    fn a_claim_holds_only_when_each_of_its_tests_ran_and_passed() {
        let claims = parse(
            "| row | claim | tests |\n|---|---|---|\n| D1 | x | `actum_kernel::store::tests::keeps` |\n| D2 | x `y` | `absence::says_nothing`, `absence::missing` |\n| D1 | x | |\n",
        );
        assert_eq!(claims.len(), 3);
        assert_eq!(claims[0].line, 3);
        assert_eq!(
            judge(&claims, &ran(LOG)),
            [
                "CLAIMS.md:4: D2: `absence::says_nothing` did not pass",
                "CLAIMS.md:4: D2: `absence::missing` did not run",
                "CLAIMS.md:5: D1 stands twice",
            ]
        );
    }
}
