//! Plans: steps that name actions, approved as a whole, and carried out one after the other.
//!
//! INVARIANT: a plan widens nothing. Each of its steps is a call like any other, asked for by the same task, and takes
//! the one path of a call ([`mediate`](crate::mediate)). The approval of the plan is worth this much and no more:
//! a step that would wait for a decision gets those of the plan, each recorded as one of its own and bound to
//! the step's own binding; and then the gate decides once more, right before the step runs. It is worth nothing
//! once anything that was approved is another: the plan's arguments, the grant, the manifests, or the actions.

mod check;
mod run;
mod shown;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use check::faults;
pub(crate) use run::carry_out;
pub(crate) use shown::shown;

/// What is to be done, step by step.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What the plan is for, in 1 to 500 characters.
    #[schemars(length(min = 1, max = 500))]
    pub goal: String,
    /// The steps, 1 to 20, in their order: one begins when the one before it succeeded.
    #[schemars(length(min = 1, max = 20))]
    pub steps: Vec<Step>,
}

/// One step of a plan: a call, exactly as it will be made.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The action: the name of one of your tools, and not of the one that proposes plans.
    #[schemars(length(min = 1, max = 200))]
    pub action: String,
    /// Its arguments, all of them. They fit that tool's parameters and hold no secret.
    pub arguments: Map<String, Value>,
    /// Why, for the person who approves, in 1 to 500 characters.
    #[schemars(length(min = 1, max = 500))]
    pub why: String,
    /// The selection token, where that tool takes one; no two steps have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub selection_token: Option<String>,
}

/// What became of a plan.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Carried {
    /// Whether every step succeeded.
    pub completed: bool,
    /// The steps that were reached. The last one did not succeed where the plan is not completed; those after it were
    /// never begun.
    pub steps: Vec<CarriedStep>,
}

/// What became of a step.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CarriedStep {
    /// Its place in the plan, from 1.
    pub step: usize,
    /// Its action, as the plan named it.
    pub action: String,
    /// Its call, where there came to be one; its result is found there.
    pub call: Option<String>,
    /// Where the call stands: `succeeded`, `failed`, `outcome_unknown`, `pending` where it has to be decided on by
    /// itself, or `refused`.
    pub state: String,
    /// Why it did not succeed, in one word.
    pub reason: Option<String>,
}
