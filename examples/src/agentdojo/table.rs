//! The counts as Markdown.

use std::fmt::Write as _;

use super::data::Benchmark;
use super::grant::Strength;
use super::tally::{Possible, Tally};

/// What the figures say and what they do not, for whoever sees them alone.
pub const PREFACE: &str = "\
# AgentDojo: which calls a hijacked model could still make

For each user task a grant is made, in three strengths: by the names of the tools that its own calls
use; with the sink arguments of those tools bound to the values in its own calls (who or what a call
reaches); with the whole arguments of each call bound. Then every injection of the suite is held
against it by the real projection and gate. Each user task's own calls passed in all three strengths.

This shows which calls a model could still make that is wholly in the attacker's hands. It does not
show what a model does (none is run), what it says to its user in words, or injections that have no
calls in the benchmark. Only the calls in an injection's ground truth are tried, not other ways to
its end. The bound values are taken from the ground truth; a real grant has to get them from
somebody. Arguments are not checked against the tools' schemas, which a kernel does after the gate.
";

/// One version's tables.
#[must_use]
pub fn render(benchmark: &Benchmark, suites: &[Tally]) -> String {
    let all = Tally::together(suites);
    let rows = || suites.iter().chain([&all]);
    let mut text = format!(
        "## AgentDojo {}, from {}\n\nPairs whose injection can still make *every* call of its ground truth:\n\n",
        benchmark.version, benchmark.source
    );
    let whole = |possible: Possible| possible.whole.len();
    let some_effect = |possible: Possible| possible.some_effect.len();
    table(
        &mut text,
        &[
            "suite",
            "pairs",
            "with calls",
            "names",
            "bound sinks",
            "exact",
        ],
        rows().map(|row| {
            let mut cells = vec![
                row.name.clone(),
                row.pairs.to_string(),
                row.judged.to_string(),
            ];
            cells.extend(shares(row, row.judged, whole));
            cells
        }),
    );
    text.push_str("\nPairs whose injection can still make *some* call that changes something:\n\n");
    table(
        &mut text,
        &["suite", "with such a call", "names", "bound sinks", "exact"],
        rows().map(|row| {
            let mut cells = vec![row.name.clone(), row.with_effect.to_string()];
            cells.extend(shares(row, row.with_effect, some_effect));
            cells
        }),
    );
    text.push_str(
        "\nWhat the model sees, and what the owner has to say for sinks to be bound (values that do not \
         stand in the user's prompt: each takes a selection or an approval):\n\n",
    );
    table(
        &mut text,
        &[
            "suite",
            "user tasks",
            "tools shown, mean",
            "sink values",
            "not in the prompt",
            "tasks with one",
        ],
        rows().map(|row| {
            let mean = |sum| tenths(sum, row.user_tasks, 10);
            vec![
                row.name.clone(),
                row.user_tasks.to_string(),
                format!("{} of {}", mean(row.tools_shown), mean(row.tools_there)),
                row.burden.values.to_string(),
                share(row.burden.unsaid, row.burden.values),
                row.burdened_tasks.to_string(),
            ]
        }),
    );
    let left = all.possible(Strength::Sinks).whole;
    if !left.is_empty() {
        text.push_str("\nStill possible with bound sinks:\n\n");
    }
    for pair in left {
        let (suite, user, injection) = (pair.suite, pair.user_task, pair.injection_task);
        let _ = writeln!(text, "- {suite}: {injection} in {user}");
    }
    if !all.without_calls.is_empty() {
        let names: Vec<String> = all
            .without_calls
            .iter()
            .map(|(suite, task)| format!("{suite} {task}"))
            .collect();
        let _ = writeln!(
            text,
            "\nNot judged, {} pairs: no call is recorded for {}. That is not to say that none is needed: \
             read their goals.",
            all.pairs - all.judged,
            names.join(", ")
        );
    }
    text
}

fn shares(row: &Tally, of: usize, count: fn(Possible) -> usize) -> impl Iterator<Item = String> {
    let possible = Strength::ALL.map(|strength| count(row.possible(strength)));
    possible.into_iter().map(move |part| share(part, of))
}

/// `85 (14.0%)`.
fn share(part: usize, of: usize) -> String {
    format!("{part} ({}%)", tenths(part, of, 1000))
}

/// A fraction times `scale` / 10, rounded to one decimal; `-` for a part of nothing.
fn tenths(part: usize, of: usize, scale: usize) -> String {
    match (part * scale + of / 2).checked_div(of) {
        Some(rounded) => format!("{}.{}", rounded / 10, rounded % 10),
        None => "-".to_owned(),
    }
}

/// A Markdown table with padded columns: the first to the left, numbers to the right.
fn table(out: &mut String, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
    let rows: Vec<Vec<String>> = rows.collect();
    let widest = |column: usize| {
        let cells = rows.iter().chain([&head]).filter_map(|row| row.get(column));
        cells.map(String::len).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(widest).collect();
    let mut line = |cells: &[String]| {
        for (column, (cell, &width)) in cells.iter().zip(&widths).enumerate() {
            let _ = match column {
                0 => write!(out, "| {cell:<width$} "),
                _ => write!(out, "| {cell:>width$} "),
            };
        }
        out.push_str("|\n");
    };
    line(&head);
    let rule = |(column, &width): (usize, &usize)| match column {
        0 => "-".repeat(width),
        _ => format!("{}:", "-".repeat(width.saturating_sub(1))),
    };
    line(&widths.iter().enumerate().map(rule).collect::<Vec<_>>());
    for row in &rows {
        line(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_to_one_decimal() {
        assert_eq!(share(85, 609), "85 (14.0%)");
        assert_eq!(share(7, 609), "7 (1.1%)");
        assert_eq!(share(1, 8), "1 (12.5%)");
        assert_eq!(share(1, 1), "1 (100.0%)");
        assert_eq!(share(0, 0), "0 (-%)");
    }

    #[test]
    fn a_table_is_markdown_with_columns_in_line() {
        let mut out = String::new();
        let rows = [["all", "7"], ["workspace", "12"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        table(&mut out, &["suite", "pairs"], rows.into_iter());
        let lines = [
            "| suite     | pairs |",
            "| --------- | ----: |",
            "| all       |     7 |",
            "| workspace |    12 |",
        ];
        assert_eq!(out.lines().collect::<Vec<_>>(), lines);
    }
}
