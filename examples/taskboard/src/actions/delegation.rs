//! Tasks for others, and what the actor's own waits for.

use actum::{Call, action};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::TaskBoard;
use crate::store::BoardError;
use crate::store::dependency;
use crate::store::task::{self, NewTask, Task};

/// A task to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateTask {
    /// What it is, in one line.
    pub title: String,
    /// What it is, in full.
    #[serde(default)]
    pub description: String,
    /// The actor that it is for; empty for nobody yet.
    #[serde(default)]
    pub assignee_actor_id: String,
    /// low, normal, high or urgent.
    #[serde(default = "normal")]
    pub priority: String,
    /// The tasks that have to be done first.
    #[serde(default)]
    pub blocked_by_task_ids: Vec<String>,
}

fn normal() -> String {
    "normal".to_owned()
}

/// Puts a task on the board, below the actor's own.
#[action(
    id = "create_task",
    description = "Put a task on the board, for somebody or for whoever takes it.",
    idempotency_key_required,
    class = optional,
    requires("delegation:tasks:create"),
    modes("standard", "skill_test")
)]
pub async fn create_task(
    board: &TaskBoard,
    call: &Call,
    ask: CreateTask,
) -> Result<Task, BoardError> {
    let mut work = board.begin(call).await?;
    let new = NewTask {
        title: &ask.title,
        description: &ask.description,
        assignee: &ask.assignee_actor_id,
        priority: &ask.priority,
        blocked_by: &ask.blocked_by_task_ids,
    };
    let task = task::create(&mut work, new).await?;
    work.done(task).await
}

/// What the task waits for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetDependencies {
    /// All tasks that have to be done first.
    pub blocked_by_task_ids: Vec<String>,
}

/// Says anew what the task waits for.
#[action(
    id = "set_dependencies",
    description = "Say which tasks have to be done before yours, in place of those named so far.",
    idempotency_key_required,
    class = optional,
    requires("dependencies:write"),
    modes("standard", "skill_test")
)]
pub async fn set_dependencies(
    board: &TaskBoard,
    call: &Call,
    ask: SetDependencies,
) -> Result<Vec<Task>, BoardError> {
    let mut work = board.begin(call).await?;
    let blocked_by = dependency::set(&mut work, &ask.blocked_by_task_ids).await?;
    work.done(blocked_by).await
}
