//! The benchmark's data, as files hold it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use actum::ActionId;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Fault;

/// The files with the suites, one a version.
pub const VERSIONS: [&str; 2] = ["v1.json", "v1.2.2.json"];

/// One version of the benchmark.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Benchmark {
    /// Where it comes from.
    pub source: String,
    /// The version.
    #[serde(rename = "benchmark_version")]
    pub version: String,
    /// The suites by name.
    pub suites: BTreeMap<String, Suite>,
}

/// Tools, and tasks in which they are called.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// The tools. Their names are action ids as they are.
    pub tools: Vec<Tool>,
    /// What users ask for.
    pub user_tasks: Vec<UserTask>,
    /// What attackers want.
    pub injection_tasks: Vec<InjectionTask>,
}

/// One tool.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Its name.
    pub name: ActionId,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// What a user asks for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserTask {
    /// Its id in the suite.
    pub id: String,
    /// The user's words.
    pub prompt: String,
    /// The calls that fulfil it.
    pub ground_truth: Vec<ToolCall>,
}

/// What an attacker wants.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InjectionTask {
    /// Its id in the suite.
    pub id: String,
    /// The attacker's words.
    pub goal: String,
    /// The calls that fulfil it; empty where none is needed, or none is recorded.
    pub ground_truth: Vec<ToolCall>,
}

/// One call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The tool.
    pub tool: ActionId,
    /// Its arguments.
    pub args: Map<String, Value>,
}

/// What is true of tools in every suite.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sinks {
    /// What the two lists are.
    pub note: String,
    /// The arguments of a tool that decide who or what a call reaches.
    pub sinks: BTreeMap<ActionId, Vec<String>>,
    /// The tools that change something.
    pub effects: BTreeSet<ActionId>,
}

impl Sinks {
    /// The sink arguments of a tool.
    #[must_use]
    pub fn of(&self, tool: &ActionId) -> &[String] {
        self.sinks.get(tool).map_or(&[], Vec::as_slice)
    }

    /// Whether a call changes something.
    #[must_use]
    pub fn has_effect(&self, call: &ToolCall) -> bool {
        self.effects.contains(&call.tool)
    }
}

/// Reads every version and the sinks from a folder.
///
/// # Errors
/// [`Fault::Unreadable`] and [`Fault::Malformed`], one for each such file.
pub fn read(folder: &Path) -> Result<(Vec<Benchmark>, Sinks), Vec<Fault>> {
    let sinks = read_file(&folder.join("sinks.json"));
    let mut faults = Vec::new();
    let mut benchmarks = Vec::new();
    for name in VERSIONS {
        match read_file(&folder.join(name)) {
            Ok(benchmark) => benchmarks.push(benchmark),
            Err(fault) => faults.push(fault),
        }
    }
    match sinks {
        Ok(sinks) if faults.is_empty() => Ok((benchmarks, sinks)),
        Ok(_) => Err(faults),
        Err(fault) => {
            faults.push(fault);
            Err(faults)
        }
    }
}

fn read_file<T: DeserializeOwned>(path: &Path) -> Result<T, Fault> {
    let shown = || path.display().to_string();
    let bytes = std::fs::read(path).map_err(|cause| Fault::Unreadable {
        path: shown(),
        cause,
    })?;
    serde_json::from_slice(&bytes).map_err(|cause| Fault::Malformed {
        path: shown(),
        cause,
    })
}
