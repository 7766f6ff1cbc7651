//! The documents of the actor's task.

use actum::{Call, action};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::TaskBoard;
use crate::store::BoardError;
use crate::store::document::{self, Document, Revision, Text};

/// Lists the task's documents.
#[action(
    id = "list_documents",
    description = "List the documents of your task, each as its newest revision.",
    class = always,
    modes("standard", "ask", "planning", "skill_test"),
    read_only
)]
pub async fn list_documents(board: &TaskBoard, call: &Call) -> Result<Vec<Revision>, BoardError> {
    document::list(&mut board.look(call).await?).await
}

/// Which document.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Which {
    /// The document's key.
    pub key: String,
}

/// Reads a document.
#[action(
    id = "read_document",
    description = "Read a document of your task.",
    class = always,
    modes("standard", "ask", "planning", "skill_test"),
    read_only
)]
pub async fn read_document(
    board: &TaskBoard,
    call: &Call,
    ask: Which,
) -> Result<Document, BoardError> {
    document::read(&mut board.look(call).await?, &ask.key).await
}

/// Lists a document's revisions.
#[action(
    id = "list_document_revisions",
    description = "List the revisions of a document of your task, newest first.",
    class = always,
    modes("standard", "ask", "planning", "skill_test"),
    read_only
)]
pub async fn list_document_revisions(
    board: &TaskBoard,
    call: &Call,
    ask: Which,
) -> Result<Vec<Revision>, BoardError> {
    document::revisions(&mut board.look(call).await?, &ask.key).await
}

/// A document's new text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WriteDocument {
    /// The document's key.
    pub key: String,
    /// The title.
    pub title: String,
    /// The whole text.
    pub body: String,
    /// The revision that the text was written over; null for a new document.
    pub base_revision_id: Base,
    /// What changed, in one line.
    #[serde(default)]
    pub change_summary: String,
}

/// What a text was written over. A type of its own, so that it cannot be left out by oversight.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Base(pub Option<String>);

/// Writes a revision of a document.
#[action(
    id = "write_document",
    description = "Write a document of your task. Refused when somebody wrote a newer revision than the one you read.",
    idempotency_key_required,
    class = always,
    modes("standard", "planning", "skill_test")
)]
pub async fn write_document(
    board: &TaskBoard,
    call: &Call,
    ask: WriteDocument,
) -> Result<Revision, BoardError> {
    let mut work = board.begin(call).await?;
    let text = Text {
        key: &ask.key,
        title: &ask.title,
        body: &ask.body,
        base: ask.base_revision_id.0.as_deref(),
        summary: &ask.change_summary,
    };
    let revision = document::write(&mut work, text).await?;
    work.done(revision).await
}
