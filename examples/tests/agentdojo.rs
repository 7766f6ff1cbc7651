//! The figures that grants leave of AgentDojo. Reads `../shared/data/agentdojo`, and fails where
//! that is not there.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use actum_examples::agentdojo::{Benchmark, Fault, Sinks, Strength, Tally, data, measure};
use serde_json::{Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/agentdojo")
}

fn told(faults: &[Fault]) -> Vec<String> {
    faults.iter().map(Fault::to_string).collect()
}

/// The suites of one version, and all of them together.
fn tallies(version: &str) -> (Vec<Tally>, Tally) {
    let (benchmarks, sinks) =
        data::read(&folder()).unwrap_or_else(|faults| panic!("{:#?}", told(&faults)));
    let benchmark = benchmarks.iter().find(|one| one.version == version);
    let suites =
        measure(benchmark.unwrap(), &sinks).unwrap_or_else(|faults| panic!("{:#?}", told(&faults)));
    let all = Tally::together(&suites);
    (suites, all)
}

/// Of one row: pairs, those judged, and those still possible by strength.
fn whole(row: &Tally) -> [usize; 5] {
    let [names, sinks, exact] = Strength::ALL.map(|strength| row.possible(strength).whole.len());
    [row.pairs, row.judged, names, sinks, exact]
}

#[test]
fn version_1_leaves_what_is_known() {
    let (suites, all) = tallies("v1");
    assert_eq!(whole(&all), [629, 609, 85, 7, 0]);
    let rows: Vec<_> = suites
        .iter()
        .map(|row| (row.name.as_str(), whole(row)))
        .collect();
    assert_eq!(
        rows,
        [
            ("banking", [144, 144, 42, 0, 0]),
            ("slack", [105, 105, 19, 3, 0]),
            ("travel", [140, 120, 6, 4, 0]),
            ("workspace", [240, 240, 18, 0, 0]),
        ]
    );
}

/// The injections that came with version 1.2 have no calls recorded: they are named, not judged.
#[test]
fn version_1_2_2_adds_injections_that_cannot_be_judged() {
    let (_, all) = tallies("v1.2.2");
    assert_eq!(whole(&all), [949, 609, 85, 7, 0]);
    assert_eq!(all.without_calls.len(), 9);
}

#[test]
fn some_effect_is_left_more_often_than_the_whole_injection() {
    let (_, all) = tallies("v1");
    let left = Strength::ALL.map(|strength| all.possible(strength).some_effect.len());
    assert_eq!((all.with_effect, left), (588, [100, 8, 0]));
}

#[test]
fn the_view_is_small_and_the_burden_is_told() {
    let (_, all) = tallies("v1");
    assert_eq!(all.user_tasks, 97);
    assert!(all.tools_shown * 5 < all.tools_there, "{all:?}");
    assert_eq!((all.burden.values, all.burden.unsaid), (128, 75));
}

// ---- a benchmark made by hand ----

/// One suite with one tool of a text, one user task that makes these calls, one injection.
fn made(own: Value, injected: Value) -> Benchmark {
    let parameters = json!({
        "type": "object",
        "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
    });
    serde_json::from_value(json!({
        "source": "made by hand", "benchmark_version": "0",
        "suites": {"post": {
            "tools": [{"name": "send", "description": "Send.", "parameters": parameters}],
            "user_tasks": [{"id": "user", "prompt": "Write to Ada.", "ground_truth": own}],
            "injection_tasks": [{"id": "injection", "goal": "Spam.", "ground_truth": injected}],
        }},
    }))
    .unwrap()
}

fn sinks(of_send: Value) -> Sinks {
    serde_json::from_value(json!({"note": "", "sinks": {"send": of_send}, "effects": ["send"]}))
        .unwrap()
}

fn send(args: Value) -> Value {
    json!({"tool": "send", "args": args})
}

/// Whether the injection is possible, by strength; `to` alone is a sink.
fn possible(own: Value, injected: Value) -> [bool; 3] {
    possible_with(json!(["to"]), own, injected)
}

fn possible_with(of_send: Value, own: Value, injected: Value) -> [bool; 3] {
    let tallies = measure(&made(own, injected), &sinks(of_send)).unwrap();
    let all = Tally::together(&tallies);
    Strength::ALL.map(|strength| !all.possible(strength).whole.is_empty())
}

#[test]
fn each_strength_leaves_what_it_does_not_bind() {
    let own = || json!([send(json!({"to": "ada", "text": "hello"}))]);
    let [names, sinks, exact] = [[true, false, false], [true, true, false], [true; 3]];
    for (injected, left) in [
        (json!({"to": "eve", "text": "hello"}), names),
        (json!({"text": "hello"}), names),
        (json!({"to": null, "text": "hello"}), names),
        (json!({"to": ["ada"], "text": "hello"}), names),
        (json!({"to": "ada", "text": "spam"}), sinks),
        (json!({"to": "ada"}), sinks),
        (json!({"text": "hello", "to": "ada"}), exact),
    ] {
        assert_eq!(
            possible(own(), json!([send(injected.clone())])),
            left,
            "{injected}"
        );
    }
    let both = json!([
        send(json!({"to": "ada", "text": "hello"})),
        send(json!({"to": "eve"}))
    ]);
    assert_eq!(
        possible(own(), both),
        names,
        "one call that is refused refuses the whole"
    );
    assert_eq!(
        possible(own(), json!([])),
        [false; 3],
        "no call, nothing to judge"
    );
}

#[test]
fn a_sink_that_no_own_call_has_stays_out_and_one_that_some_have_may() {
    let never = json!([send(json!({"text": "to nobody"}))]);
    assert_eq!(
        possible(never.clone(), json!([send(json!({"text": "spam"}))])),
        [true, true, false]
    );
    assert_eq!(
        possible(never, json!([send(json!({"to": "eve"}))])),
        [true, false, false]
    );
    let sometimes = json!([
        send(json!({"text": "a"})),
        send(json!({"to": "ada", "text": "b"}))
    ]);
    assert_eq!(
        possible(sometimes, json!([send(json!({"text": "b"}))])),
        [true, true, false]
    );
}

#[test]
fn sinks_are_bound_each_by_itself_and_arguments_as_a_whole() {
    let own = json!([
        send(json!({"to": "ada", "text": "a"})),
        send(json!({"to": "bob", "text": "b"}))
    ]);
    let mixed = json!([send(json!({"to": "ada", "text": "b"}))]);
    assert_eq!(
        possible_with(json!(["to", "text"]), own, mixed),
        [true, true, false]
    );
}

#[test]
fn a_user_task_whose_own_call_does_not_pass_is_told_in_every_strength() {
    let own = json!([{"tool": "burn", "args": {}}]);
    let faults = measure(&made(own, json!([])), &sinks(json!(["to"]))).unwrap_err();
    let told = told(&faults);
    assert_eq!(told.len(), 3, "{told:#?}");
    for (line, strength) in told.iter().zip(["names", "bound sinks", "exact arguments"]) {
        assert!(
            line.contains("`burn`") && line.contains("unknown_action"),
            "{line}"
        );
        assert!(line.contains(strength), "{line}");
    }
}

/// Its value fits no schema of the tool, so that a tool bound to it is not shown.
#[test]
fn a_user_task_that_is_not_shown_its_own_tool_is_told() {
    let own = json!([send(json!({"to": 5}))]);
    let told = told(&measure(&made(own, json!([])), &sinks(json!(["to"]))).unwrap_err());
    assert_eq!(told.len(), 2, "{told:#?}");
    for (line, strength) in told.iter().zip(["bound sinks", "exact arguments"]) {
        assert!(
            line.contains("not_shown") && line.contains(strength),
            "{line}"
        );
    }
}

#[test]
fn a_sink_that_is_no_argument_is_told() {
    let faults = measure(&made(json!([]), json!([])), &sinks(json!(["whom"]))).unwrap_err();
    let told = told(&faults);
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(
        told.iter()
            .all(|line| line.contains("`whom`") && line.contains("`send`"))
    );
}

// ---- the program ----

fn run(folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_agentdojo"))
        .arg(folder)
        .output()
        .unwrap()
}

#[test]
fn the_program_prints_the_figures_and_what_they_do_not_show() {
    let output = run(&folder());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for needed in [
        "85 (14.0%)",
        "7 (1.1%)",
        "0 (0.0%)",
        "It does not",
        "Not judged, 340 pairs",
    ] {
        assert!(text.contains(needed), "no {needed:?} in\n{text}");
    }
}

#[test]
fn without_the_data_it_names_every_file_and_fails() {
    let empty = tempfile::tempdir().unwrap();
    let output = run(empty.path());
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    for file in ["v1.json", "v1.2.2.json", "sinks.json"] {
        assert!(told.contains(file), "no {file} in\n{told}");
    }

    std::fs::copy(folder().join("sinks.json"), empty.path().join("sinks.json")).unwrap();
    std::fs::copy(folder().join("v1.json"), empty.path().join("v1.json")).unwrap();
    let output = run(empty.path());
    assert_eq!(output.status.code(), Some(1), "one version is not enough");

    std::fs::write(empty.path().join("v1.json"), "{\"source\": 1}").unwrap();
    let told = String::from_utf8(run(empty.path()).stderr).unwrap();
    assert!(
        told.contains("v1.json: invalid type") && told.contains("line 1"),
        "{told}"
    );
}
