//! The actor's own task: its context and history, and how it goes on.

use std::num::NonZeroU64;

use actum::{Call, action};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::TaskBoard;
use crate::store::deliverable::{self, Deliverable, File};
use crate::store::history::{self, Entry, Kind};
use crate::store::human_input::{self, Asked, Continuation, Interaction, Question};
use crate::store::operation::{self, Operation};
use crate::store::task::{self, Context, Task};
use crate::store::{BoardError, Payload};

/// Reads the task with what it waits for.
#[action(
    id = "get_task_context",
    description = "Read your task: what it is, how far it is, and which tasks it waits for.",
    class = always,
    modes("standard", "ask", "planning", "skill_test"),
    read_only
)]
pub async fn get_task_context(board: &TaskBoard, call: &Call) -> Result<Context, BoardError> {
    task::context(&mut board.look(call).await?).await
}

/// How far to look back.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GetTaskHistory {
    /// At most this many entries, the newest.
    #[serde(default = "fifty")]
    pub limit: NonZeroU64,
}

fn fifty() -> NonZeroU64 {
    NonZeroU64::MIN.saturating_add(49)
}

/// Reads what happened at the task, newest first.
#[action(
    id = "get_task_history",
    description = "Read what happened at your task, newest first.",
    class = always,
    modes("standard", "ask", "planning", "skill_test"),
    read_only
)]
pub async fn get_task_history(
    board: &TaskBoard,
    call: &Call,
    ask: GetTaskHistory,
) -> Result<Vec<Entry>, BoardError> {
    history::newest(&mut board.look(call).await?, ask.limit).await
}

/// Something to say of the task.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Remark {
    /// What there is to say.
    pub body: String,
}

/// Tells how far the task is.
#[action(
    id = "report_progress",
    description = "Tell how far your task is; it becomes part of the task's history.",
    idempotency_key_required,
    class = always,
    modes("standard", "ask", "planning", "skill_test")
)]
pub async fn report_progress(
    board: &TaskBoard,
    call: &Call,
    ask: Remark,
) -> Result<Entry, BoardError> {
    let mut work = board.begin(call).await?;
    let entry = history::tell(&mut work, Kind::Progress, &ask.body).await?;
    work.done(entry).await
}

/// Answers whoever asked how far the task is.
#[action(
    id = "answer_status_question",
    description = "Answer somebody who asked how far your task is.",
    idempotency_key_required,
    class = always,
    modes("standard", "ask", "planning", "skill_test")
)]
pub async fn answer_status_question(
    board: &TaskBoard,
    call: &Call,
    ask: Remark,
) -> Result<Entry, BoardError> {
    let mut work = board.begin(call).await?;
    let entry = history::tell(&mut work, Kind::StatusAnswer, &ask.body).await?;
    work.done(entry).await
}

/// A question to a person.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestHumanInput {
    /// How the person answers.
    pub interaction_kind: Interaction,
    /// What it is about, in one line.
    pub title: String,
    /// The question.
    pub prompt: String,
    /// What happens once there is an answer.
    pub continuation_policy: Continuation,
    /// What the way of answering needs: questions, items, choices.
    #[serde(default)]
    pub payload: Payload,
    /// The revision of a document that it is about.
    pub target_revision_id: Option<String>,
}

/// Asks a person about the task.
#[action(
    id = "request_human_input",
    description = "Ask a person something about your task.",
    idempotency_key_required,
    class = always,
    modes("standard", "planning", "skill_test"),
    interaction = "interactionKind"
)]
pub async fn request_human_input(
    board: &TaskBoard,
    call: &Call,
    ask: RequestHumanInput,
) -> Result<Asked, BoardError> {
    let mut work = board.begin(call).await?;
    let question = Question {
        interaction: ask.interaction_kind,
        title: &ask.title,
        prompt: &ask.prompt,
        continuation: ask.continuation_policy,
        payload: &ask.payload,
        target_revision: ask.target_revision_id.as_deref(),
    };
    let asked = human_input::ask(&mut work, question).await?;
    work.done(asked).await
}

/// A file that the task hands over.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegisterDeliverable {
    /// Its name.
    pub filename: String,
    /// Its media type.
    pub content_type: String,
    /// Its size in bytes.
    pub byte_size: u64,
    /// SHA-256 of its content, 64 lower-case hexadecimal digits.
    pub sha256: String,
    /// Where the content lies.
    pub content_ref: String,
    /// What it is, in one line.
    pub title: String,
}

/// Registers a file as what the task hands over.
#[action(
    id = "register_deliverable",
    description = "Register a file as a deliverable of your task.",
    idempotency_key_required,
    class = always,
    modes("standard", "planning", "skill_test")
)]
pub async fn register_deliverable(
    board: &TaskBoard,
    call: &Call,
    ask: RegisterDeliverable,
) -> Result<Deliverable, BoardError> {
    let mut work = board.begin(call).await?;
    let file = File {
        title: &ask.title,
        filename: &ask.filename,
        content_type: &ask.content_type,
        byte_size: ask.byte_size,
        sha256: &ask.sha256,
        content_ref: &ask.content_ref,
    };
    let deliverable = deliverable::register(&mut work, file).await?;
    work.done(deliverable).await
}

/// What came of the task.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Summary {
    /// What came of it, in a few lines.
    pub summary: String,
}

/// Ends the task.
#[action(
    id = "finish_task",
    description = "Finish your task. Refused while a task that it waits for is not done.",
    idempotency_key_required,
    class = always,
    modes("standard", "skill_test")
)]
pub async fn finish_task(board: &TaskBoard, call: &Call, ask: Summary) -> Result<Task, BoardError> {
    let mut work = board.begin(call).await?;
    let task = task::finish(&mut work, &ask.summary).await?;
    work.done(task).await
}

/// Why the task cannot go on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockTask {
    /// Why.
    pub reason: String,
    /// The tasks that have to be done first, besides those that are known.
    #[serde(default)]
    pub blocked_by_task_ids: Vec<String>,
}

/// Says that the task cannot go on.
#[action(
    id = "block_task",
    description = "Say that your task cannot go on, why, and which tasks have to be done first.",
    idempotency_key_required,
    class = always,
    modes("standard", "skill_test")
)]
pub async fn block_task(
    board: &TaskBoard,
    call: &Call,
    ask: BlockTask,
) -> Result<Task, BoardError> {
    let mut work = board.begin(call).await?;
    let task = task::block(&mut work, &ask.reason, &ask.blocked_by_task_ids).await?;
    work.done(task).await
}

/// Hands the task over to a reviewer.
#[action(
    id = "request_review",
    description = "Hand your task over to a reviewer.",
    idempotency_key_required,
    class = always,
    modes("standard", "skill_test")
)]
pub async fn request_review(
    board: &TaskBoard,
    call: &Call,
    ask: Summary,
) -> Result<Task, BoardError> {
    let mut work = board.begin(call).await?;
    let task = task::request_review(&mut work, &ask.summary).await?;
    work.done(task).await
}

/// Which operation to look at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InspectOperationResult {
    /// The id of the call, as its answer gave it.
    pub operation_result_id: String,
}

/// Reads what an earlier call of the same actor answered.
#[action(
    id = "inspect_operation_result",
    description = "Read what an earlier changing call of yours answered.",
    class = always,
    modes("standard", "ask", "planning", "skill_test"),
    read_only
)]
pub async fn inspect_operation_result(
    board: &TaskBoard,
    call: &Call,
    ask: InspectOperationResult,
) -> Result<Operation, BoardError> {
    operation::inspect(&mut board.look(call).await?, &ask.operation_result_id).await
}
