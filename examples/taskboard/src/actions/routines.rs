//! What begins tasks by the clock.

use actum::{Call, action};

use crate::TaskBoard;
use crate::store::BoardError;
use crate::store::routine::{self, Routine};

/// Lists the routines.
#[action(
    id = "list_routines",
    description = "List the company's routines and whether they rest.",
    class = optional,
    requires("routines:read"),
    modes("standard", "skill_test"),
    read_only
)]
pub async fn list_routines(board: &TaskBoard, call: &Call) -> Result<Vec<Routine>, BoardError> {
    routine::list(&mut board.look(call).await?).await
}

/// Pauses the task's routine, or lets it go on.
#[action(
    id = "manage_routine",
    description = "Pause the routine that began your task, or let it go on if it rests.",
    idempotency_key_required,
    class = optional,
    requires("routines:write"),
    modes("standard", "skill_test")
)]
pub async fn manage_routine(board: &TaskBoard, call: &Call) -> Result<Routine, BoardError> {
    let mut work = board.begin(call).await?;
    let routine = routine::switch(&mut work).await?;
    work.done(routine).await
}
