//! What "the model" does, turn by turn.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A script.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// What the model says and calls in each of its turns.
    turns: Vec<Turn>,
    /// Whether the first tool gets a name that no provider takes, before the tools are checked: to show that
    /// the check bites.
    #[serde(default)]
    tamper: bool,
}

/// One turn of the model.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    /// What it says.
    pub text: String,
    /// The calls that it makes, all at once.
    pub calls: Vec<Call>,
}

/// A call that the model makes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The name of the tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
}

impl Script {
    /// Reads a script by its name.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(folder: &Path, name: &str) -> Result<Self, String> {
        if !name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') {
            return Err(format!("there is no model `{name}`"));
        }
        let text = std::fs::read(folder.join(format!("{name}.json")));
        let text = text.map_err(|error| format!("there is no model `{name}`: {error}"))?;
        serde_json::from_slice(&text).map_err(|error| format!("the script `{name}`: {error}"))
    }

    /// A turn, counted from 0.
    ///
    /// # Errors
    /// The script is over.
    pub fn turn(&self, number: usize) -> Result<&Turn, String> {
        let turn = self.turns.get(number);
        turn.ok_or_else(|| format!("the script has no turn {number}"))
    }

    /// Spoils the first tool, if the script says so.
    pub fn tamper(&self, tools: &mut [Value]) {
        let Some(first) = tools.first_mut().filter(|_| self.tamper) else {
            return;
        };
        for at in ["/name", "/function/name"] {
            if let Some(name) = first.pointer_mut(at) {
                *name = json!("not a name");
            }
        }
    }
}
