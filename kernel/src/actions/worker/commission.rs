//! `worker.commission`

use actum::schema::ArgumentFault;
use actum::{ActionError, Call, Secret, action};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::handle::KernelHandle;

/// What another worker is to do, and with what of yours.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// What the task is for, in one line of 1 to 500 characters.
    #[schemars(length(min = 1, max = 500))]
    pub purpose: String,
    /// The tools that it may use, 1 to 64 of yours, each by its name.
    #[schemars(length(min = 1, max = 64))]
    pub actions: Vec<String>,
    /// How long it may take, in seconds, up to a day. It is over at the latest when your own task is.
    #[schemars(range(min = 1, max = 86_400))]
    pub lifetime_seconds: u32,
    /// The output channels that it may write to, of yours; all of them if this is left out.
    #[schemars(length(max = 64))]
    pub output_channels: Option<Vec<String>>,
    /// The egress classes that it may cause, of yours; all of them if this is left out.
    #[schemars(length(max = 64))]
    pub egress_classes: Option<Vec<String>>,
    /// The selection tokens that it may spend, of yours and unspent; none if this is left out. Whoever is first
    /// spends one.
    #[schemars(length(max = 64))]
    pub selection_tokens: Option<Vec<String>>,
    /// What arguments of its tools are held to.
    #[schemars(length(max = 64))]
    pub bound_arguments: Option<Vec<BoundArgument>>,
    /// The most calls that it may make; they count as yours, too.
    #[schemars(range(min = 1))]
    pub max_calls: Option<u32>,
}

/// An argument that is held to some values.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundArgument {
    /// The tool's name.
    pub action: String,
    /// The argument's name.
    pub argument: String,
    /// The values, of which it has to be one: 1 to 64.
    #[schemars(length(min = 1, max = 64))]
    pub values: Vec<BoundValue>,
}

/// A value of an argument.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BoundValue {
    /// A text.
    Text(String),
    /// A whole number.
    Number(i64),
    /// True or false.
    Flag(bool),
}

impl From<&BoundValue> for serde_json::Value {
    fn from(value: &BoundValue) -> Self {
        match value {
            BoundValue::Text(text) => text.as_str().into(),
            BoundValue::Number(number) => (*number).into(),
            BoundValue::Flag(flag) => (*flag).into(),
        }
    }
}

/// A task for another worker.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Commissioned {
    /// The task.
    pub task_id: String,
    /// The token that its worker presents. It is told this once and kept nowhere.
    pub token: Secret<String>,
    /// When the task is over, RFC 3339 UTC.
    pub expires_at: String,
    /// The names of its tools.
    pub tools: Vec<String>,
}

/// Issues a task with a part of the caller's own grant. Needs no approval: what it hands on the caller has already, so
/// that nothing becomes possible that was not. It is not handed on itself, so that a lineage has two generations.
#[action(
    id = "worker.commission",
    title = "Commission another worker",
    description = "Hand a part of your task, with some of your tools, to another worker: you get the token that it works with.",
    non_delegable,
    check = is_the_callers_own
)]
pub async fn commission(
    kernel: &KernelHandle,
    call: &Call,
    ask: Ask,
) -> Result<Commissioned, ActionError> {
    let commissioned = kernel.kernel()?.commission(call, &ask).await?;
    Ok(Commissioned {
        task_id: commissioned.token.task_id.to_string(),
        token: Secret::new(commissioned.token.reveal()),
        expires_at: commissioned.expires_at.to_string(),
        tools: commissioned.tools,
    })
}

/// Whether the caller has what it asks to hand on, and the other worker could use it.
async fn is_the_callers_own(
    kernel: &KernelHandle,
    call: &Call,
    ask: &Ask,
) -> Result<Vec<ArgumentFault>, ActionError> {
    kernel.kernel()?.commission_faults(call, ask).await
}
