//! The company's cases.

use actum::{Call, action};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::TaskBoard;
use crate::store::BoardError;
use crate::store::case::{self, Case};

/// Lists the cases.
#[action(
    id = "list_cases",
    description = "List the company's cases.",
    class = optional,
    requires("cases:read"),
    modes("standard", "skill_test"),
    read_only
)]
pub async fn list_cases(board: &TaskBoard, call: &Call) -> Result<Vec<Case>, BoardError> {
    case::list(&mut board.look(call).await?).await
}

/// A case and what there is to say of it.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct UpsertCase {
    /// The case's key.
    pub key: String,
    /// All there is to say, in place of what was said before.
    pub body: String,
}

/// Makes a case, or says something else of it.
#[action(
    id = "upsert_case",
    description = "Make a case, or replace what is said of it.",
    idempotency_key_required,
    class = optional,
    requires("cases:write"),
    modes("standard", "skill_test")
)]
pub async fn upsert_case(
    board: &TaskBoard,
    call: &Call,
    ask: UpsertCase,
) -> Result<Case, BoardError> {
    let mut work = board.begin(call).await?;
    let case = case::upsert(&mut work, &ask.key, &ask.body).await?;
    work.done(case).await
}
