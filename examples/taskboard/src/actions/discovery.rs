//! What there is on the board besides the actor's own task.

use actum::{Call, action};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::TaskBoard;
use crate::store::BoardError;
use crate::store::company::{self, Actor, Goal, Project};
use crate::store::task::{self, Task};

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SearchTasks {
    /// A text in title or description; empty for any.
    #[serde(default)]
    pub query: String,
    /// open, active, blocked, in_review or done; empty for any.
    #[serde(default)]
    pub status: String,
}

/// Searches all tasks.
#[action(
    id = "search_tasks",
    description = "Search the board's tasks by text and status.",
    class = optional,
    requires("discovery:tasks:read"),
    modes("standard", "ask", "planning", "skill_test"),
    read_only
)]
pub async fn search_tasks(
    board: &TaskBoard,
    call: &Call,
    ask: SearchTasks,
) -> Result<Vec<Task>, BoardError> {
    task::search(&mut board.look(call).await?, &ask.query, &ask.status).await
}

/// Lists who is on the board.
#[action(
    id = "list_agents",
    description = "List the people and agents on the board with their roles.",
    class = optional,
    requires("discovery:agents:read"),
    modes("standard", "ask", "planning", "skill_test"),
    read_only
)]
pub async fn list_agents(board: &TaskBoard, call: &Call) -> Result<Vec<Actor>, BoardError> {
    company::agents(&mut board.look(call).await?).await
}

/// Lists the projects.
#[action(
    id = "list_projects",
    description = "List the company's projects.",
    class = optional,
    requires("discovery:projects:read"),
    modes("standard", "skill_test"),
    read_only
)]
pub async fn list_projects(board: &TaskBoard, call: &Call) -> Result<Vec<Project>, BoardError> {
    company::projects(&mut board.look(call).await?).await
}

/// Lists the goals.
#[action(
    id = "list_goals",
    description = "List the company's goals.",
    class = optional,
    requires("discovery:goals:read"),
    modes("standard", "skill_test"),
    read_only
)]
pub async fn list_goals(board: &TaskBoard, call: &Call) -> Result<Vec<Goal>, BoardError> {
    company::goals(&mut board.look(call).await?).await
}
