//! Prints which calls of AgentDojo's injections grants leave possible; see
//! [`actum_examples::agentdojo`] for what that shows and what it does not.
//!
//! `cargo run --release -p actum-examples --bin agentdojo [FOLDER]`. The folder has `v1.json`,
//! `v1.2.2.json` and `sinks.json`; it is `../shared/data/agentdojo`, seen from the project's root,
//! unless another one is named.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use actum_examples::agentdojo::{Fault, data, measure, table};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let folder = match (arguments.next(), arguments.next()) {
        (None, _) => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/agentdojo"),
        (Some(folder), None) if !folder.to_string_lossy().starts_with('-') => PathBuf::from(folder),
        _ => {
            eprintln!("usage: agentdojo [FOLDER]");
            return ExitCode::from(2);
        }
    };
    match tables(&folder) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(faults) => {
            for fault in faults {
                eprintln!("error: {fault}");
            }
            ExitCode::FAILURE
        }
    }
}

fn tables(folder: &Path) -> Result<String, Vec<Fault>> {
    let (benchmarks, sinks) = data::read(folder)?;
    let mut text = table::PREFACE.to_owned();
    let mut faults = Vec::new();
    for benchmark in &benchmarks {
        match measure(benchmark, &sinks) {
            Ok(suites) => {
                text.push('\n');
                text.push_str(&table::render(benchmark, &suites));
            }
            Err(more) => faults.extend(more),
        }
    }
    if faults.is_empty() {
        Ok(text)
    } else {
        Err(faults)
    }
}
