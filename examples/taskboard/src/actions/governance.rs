//! Approvals.

use actum::{Call, action};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::TaskBoard;
use crate::store::approval::{self, Approval, Comment, Decision};
use crate::store::{BoardError, Payload};

/// Lists the approvals.
#[action(
    id = "list_approvals",
    description = "List the approvals that were asked for, newest first, with how they were decided.",
    class = optional,
    requires("governance:approvals:read"),
    modes("standard", "ask", "planning", "skill_test"),
    read_only
)]
pub async fn list_approvals(board: &TaskBoard, call: &Call) -> Result<Vec<Approval>, BoardError> {
    approval::list(&mut board.look(call).await?).await
}

/// What is to be approved.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestApproval {
    /// What kind of thing.
    pub approval_type: String,
    /// The thing itself.
    pub payload: Payload,
}

/// Asks for an approval.
#[action(
    id = "request_approval",
    description = "Ask for an approval; somebody else decides it.",
    idempotency_key_required,
    class = optional,
    requires("governance:approvals:request"),
    modes("standard", "skill_test")
)]
pub async fn request_approval(
    board: &TaskBoard,
    call: &Call,
    ask: RequestApproval,
) -> Result<Approval, BoardError> {
    let mut work = board.begin(call).await?;
    let approval = approval::request(&mut work, &ask.approval_type, &ask.payload).await?;
    work.done(approval).await
}

/// A decision.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DecideApproval {
    /// Which approval.
    pub approval_id: String,
    /// How.
    pub decision: Decision,
    /// Why.
    pub note: String,
}

/// Decides an approval.
#[action(
    id = "decide_approval",
    description = "Decide an approval that somebody else asked for.",
    idempotency_key_required,
    class = optional,
    requires("governance:approvals:decide"),
    roles("board", "approver", "security"),
    modes("standard", "skill_test")
)]
pub async fn decide_approval(
    board: &TaskBoard,
    call: &Call,
    ask: DecideApproval,
) -> Result<Approval, BoardError> {
    let mut work = board.begin(call).await?;
    let approval = approval::decide(&mut work, &ask.approval_id, ask.decision, &ask.note).await?;
    work.done(approval).await
}

/// A comment.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommentOnApproval {
    /// Which approval.
    pub approval_id: String,
    /// What there is to say.
    pub body: String,
}

/// Says something of an approval.
#[action(
    id = "comment_on_approval",
    description = "Say something of an approval without deciding it.",
    idempotency_key_required,
    class = optional,
    requires("governance:approvals:comment"),
    modes("standard", "ask", "planning", "skill_test")
)]
pub async fn comment_on_approval(
    board: &TaskBoard,
    call: &Call,
    ask: CommentOnApproval,
) -> Result<Comment, BoardError> {
    let mut work = board.begin(call).await?;
    let comment = approval::comment(&mut work, &ask.approval_id, &ask.body).await?;
    work.done(comment).await
}
