//! The services of the workspace.

use actum::{Call, action};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::TaskBoard;
use crate::store::BoardError;
use crate::store::workspace::{self, Control, Service};

/// Lists the services.
#[action(
    id = "get_workspace_runtime",
    description = "List the workspace's services, whether they run, and where they answer.",
    class = optional,
    requires("workspace:read"),
    modes("standard", "ask", "planning", "skill_test"),
    read_only
)]
pub async fn get_workspace_runtime(
    board: &TaskBoard,
    call: &Call,
) -> Result<Vec<Service>, BoardError> {
    workspace::services(&mut board.look(call).await?).await
}

/// What to do with a service.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ControlWorkspaceService {
    /// Which service.
    pub service_id: String,
    /// What to do.
    pub action: Control,
    /// Where a started service answers; empty if nowhere.
    #[serde(default)]
    pub url: String,
}

/// Starts, stops or fails a service.
#[action(
    id = "control_workspace_service",
    description = "Start or stop a service of the workspace, or mark it as failed.",
    idempotency_key_required,
    class = optional,
    requires("workspace:control"),
    modes("standard", "skill_test")
)]
pub async fn control_workspace_service(
    board: &TaskBoard,
    call: &Call,
    ask: ControlWorkspaceService,
) -> Result<Service, BoardError> {
    let mut work = board.begin(call).await?;
    let service = workspace::control(&mut work, &ask.service_id, ask.action, &ask.url).await?;
    work.done(service).await
}
