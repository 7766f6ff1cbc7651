//! Building 500 handlers under `#[action]`, against 500 methods under rmcp's `#[tool]` with the same
//! payloads, results and bodies: from nothing, and after a change of one line.
//!
//! `cargo bench --manifest-path bench/Cargo.toml --bench build_cost`
//!
//! Two crates are written into `bench/target/build-cost`. What they depend on is built first and is
//! not timed; what is timed is `cargo build` and `cargo check` of the crate itself, with cargo's
//! defaults (incremental, debug information). "From nothing" is after `cargo clean -p`. Every program
//! that was built has to tell as many tools, parameters and results as were described.
//!
//! | variable | means | default |
//! |---|---|---|
//! | `BUILD_COST_ROUNDS` | pairs of each step, 1 to 99 | 2 |
//! | `BUILD_COST_PROFILE` | a cargo profile, such as `release` | `dev` |
//!
//! Both crates are members of this workspace: one lock file gives both the same versions of what they
//! share, and nothing is looked up that `cargo bench` did not fetch. Cargo is told to build one of them
//! at a time, so each gets the features that it asks for and no others.
#![allow(
    clippy::unwrap_used,
    reason = "a benchmark whose set-up fails has nothing to measure"
)]

mod handlers;
mod source;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use actum_bench::{Aim, Pair, head, row};

use crate::handlers::Area;
use crate::source::Side;

const SIDES: [Side; 2] = [Side::Actum, Side::Rmcp];
/// What is timed, in this order in every round.
const STEPS: [Step; 4] = [
    Step("build", Start::FromNothing),
    Step("build", Start::OneLineChanged),
    Step("check", Start::FromNothing),
    Step("check", Start::OneLineChanged),
];

fn main() {
    let bench = Bench::new();
    let rounds = rounds();
    for side in SIDES {
        source::write(&bench.sources, side, &bench.areas).unwrap();
        for command in ["build", "check"] {
            eprintln!("{}: {command} what it depends on", side.package());
            bench.cargo(command, side);
        }
    }
    let mut walls: [Vec<(f64, f64)>; STEPS.len()] = Default::default();
    let mut processors = walls.clone();
    for round in 0..rounds {
        let steps = STEPS.iter().zip(walls.iter_mut().zip(&mut processors));
        for (step, (walls, processors)) in steps {
            eprintln!("round {} of {rounds}: {}", round + 1, step.name());
            // Neither side always comes first.
            let (ours, theirs) = if round % 2 == 0 {
                let first = bench.time(step, Side::Actum, round);
                (first, bench.time(step, Side::Rmcp, round))
            } else {
                let first = bench.time(step, Side::Rmcp, round);
                (bench.time(step, Side::Actum, round), first)
            };
            walls.push((ours.wall, theirs.wall));
            processors.extend(ours.processor.zip(theirs.processor));
        }
    }
    print(&bench, rounds, &walls, &processors);
}

fn print(bench: &Bench, rounds: u32, walls: &[Vec<(f64, f64)>], processors: &[Vec<(f64, f64)>]) {
    head(
        &format!(
            "{} under #[action] against rmcp's #[tool], profile {}, rounds: {rounds}",
            bench.expected(),
            bench.profile
        ),
        "ms",
        "rmcp, ms",
    );
    for (step, (walls, processors)) in STEPS.iter().zip(walls.iter().zip(processors)) {
        row(&step.name(), &Pair::of(walls), Aim::AtMost(1.0));
        if !processors.is_empty() {
            // Holds on a busy machine too, where the other is mostly the neighbours' doing.
            row(
                "  in time of processors",
                &Pair::of(processors),
                Aim::AtMost(1.0),
            );
        }
    }
}

/// One thing that is timed: a command of cargo, and what it begins with.
struct Step(&'static str, Start);

#[derive(Clone, Copy)]
enum Start {
    FromNothing,
    OneLineChanged,
}

impl Step {
    fn name(&self) -> String {
        let start = match self.1 {
            Start::FromNothing => "from nothing",
            Start::OneLineChanged => "one line changed",
        };
        format!("cargo {}, {start}", self.0)
    }
}

/// What a step took, in milliseconds.
struct Spent {
    wall: f64,
    /// Of cargo and all that it ran; not every system tells it.
    processor: Option<f64>,
}

/// Where everything is, and what is built.
struct Bench {
    manifest: PathBuf,
    sources: PathBuf,
    /// Where cargo builds the two crates; not where it built this benchmark, with other features.
    target: PathBuf,
    profile: String,
    areas: Vec<Area>,
}

impl Bench {
    fn new() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let sources = folder.join("target").join("build-cost");
        Self {
            manifest: folder.join("Cargo.toml"),
            target: sources.join("target"),
            sources,
            profile: env::var("BUILD_COST_PROFILE").unwrap_or_else(|_| "dev".to_owned()),
            areas: handlers::areas(),
        }
    }

    /// Does one step for one side, and sees to it that it did what it should.
    fn time(&self, step: &Step, side: Side, round: u32) -> Spent {
        match step.1 {
            Start::FromNothing => drop(self.cargo("clean", side)),
            Start::OneLineChanged => {
                let area = self.areas.first().unwrap();
                // The sources are written with 0, and no number comes twice in a row.
                let number = round * 2 + 1 + u32::from(step.0 == "check");
                source::change_a_line(&self.sources, side, area, number).unwrap();
            }
        }
        let (start, processor) = (Instant::now(), processor_of_children());
        let output = self.cargo(step.0, side);
        let spent = Spent {
            wall: start.elapsed().as_secs_f64() * 1e3,
            processor: processor_of_children()
                .zip(processor)
                .map(|(after, before)| after - before),
        };
        let told = String::from_utf8(output.stderr).unwrap();
        let compiled = told.lines().filter(|line| {
            let verb = line.trim_start();
            verb.starts_with("Compiling ") || verb.starts_with("Checking ")
        });
        let compiled: Vec<&str> = compiled.collect();
        assert!(
            matches!(compiled.as_slice(), [one] if one.contains(side.package())),
            "one crate was to be built, not: {told}"
        );
        if step.0 == "build" {
            assert_eq!(
                self.told_by_program(side),
                self.expected(),
                "{}",
                side.package()
            );
        }
        spent
    }

    /// `cargo COMMAND` on the one package.
    fn cargo(&self, command: &str, side: Side) -> Output {
        let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            // As at a developer's desk, whatever the surroundings say.
            .env_remove("CARGO_INCREMENTAL")
            .args([
                command,
                "--locked",
                "--color",
                "never",
                "--profile",
                &self.profile,
            ])
            .args(["--package", side.package()])
            .arg("--manifest-path")
            .arg(&self.manifest)
            .arg("--target-dir")
            .arg(&self.target)
            // Some CI systems switch it off, and nobody at a desk does.
            .env_remove("CARGO_INCREMENTAL")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cargo {command}: {told}");
        output
    }

    /// What the program says that it has.
    fn told_by_program(&self, side: Side) -> String {
        let folder = if self.profile == "dev" {
            "debug"
        } else {
            &self.profile
        };
        let program = self.target.join(folder).join(side.package());
        let output = Command::new(program).output().unwrap();
        assert!(output.status.success(), "{}", side.package());
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    /// What it has to say.
    fn expected(&self) -> String {
        let handlers = || self.areas.iter().flat_map(|area| &area.handlers);
        let count = handlers().count();
        let parameters: usize = handlers().map(|handler| handler.fields.len()).sum();
        format!("{count} tools, {parameters} parameters, {count} results")
    }
}

fn rounds() -> u32 {
    let wanted = env::var("BUILD_COST_ROUNDS").unwrap_or_else(|_| "2".to_owned());
    let rounds = wanted.parse().unwrap_or(0);
    assert!(
        (1..=99).contains(&rounds),
        "BUILD_COST_ROUNDS is a number from 1 to 99, not `{wanted}`"
    );
    rounds
}

/// What the processors spent so far on processes that were begun here and have ended, theirs included,
/// in milliseconds. From Linux's `/proc/self/stat`, see proc_pid_stat(5): `cutime` and `cstime`, in
/// hundredths of a second.
fn processor_of_children() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is a name in parentheses, and may have spaces. After it comes the third.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(16 - 3);
    let (user, system): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((user + system) * 10.0)
}
