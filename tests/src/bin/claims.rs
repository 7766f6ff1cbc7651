//! `claims LOG`: holds `CLAIMS.md` against what `cargo test --workspace` printed.

use std::process::ExitCode;

use actum_tests::claims::{judge, parse, ran};

fn main() -> ExitCode {
    let Some(log) = std::env::args().nth(1) else {
        eprintln!("name the file that holds what `cargo test --workspace` printed");
        return ExitCode::from(2);
    };
    let claims = concat!(env!("CARGO_MANIFEST_DIR"), "/../CLAIMS.md");
    let read =
        |path: &str| std::fs::read_to_string(path).map_err(|error| eprintln!("{path}: {error}"));
    let (Ok(claims), Ok(log)) = (read(claims), read(&log)) else {
        return ExitCode::from(2);
    };
    let (claims, ran) = (parse(&claims), ran(&log));
    let problems = judge(&claims, &ran);
    problems.iter().for_each(|problem| eprintln!("{problem}"));
    let named: usize = claims.iter().map(|claim| claim.tests.len()).sum();
    println!(
        "{} claims name {named} tests, of {} that ran; {} problems",
        claims.len(),
        ran.len(),
        problems.len()
    );
    if problems.is_empty() && named > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
