//! Questions to people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::Type;

use super::history::{self, Kind};
use super::work::new_id;
use super::{BoardError, Payload, Work};

/// How a person answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Type, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[sqlx(rename_all = "snake_case")]
pub enum Interaction {
    /// With yes or no.
    Confirmation,
    /// By ticking what holds.
    Checkbox,
    /// In words, to each question.
    Questions,
    /// By choosing among proposed tasks.
    SuggestTasks,
    /// With a verdict on each item.
    ItemVerdicts,
}

/// What happens once there is an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Type, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[sqlx(rename_all = "snake_case")]
pub enum Continuation {
    /// Nothing.
    None,
    /// The assignee goes on.
    WakeAssignee,
    /// The assignee goes on if the answer is yes.
    WakeAssigneeOnAccept,
}

/// A question.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// How it is answered.
    pub interaction: Interaction,
    /// What it is about, in one line.
    pub title: &'a str,
    /// The question.
    pub prompt: &'a str,
    /// What happens once there is an answer.
    pub continuation: Continuation,
    /// What the way of answering needs: questions, items, choices.
    pub payload: &'a Payload,
    /// The revision of a document that it is about.
    pub target_revision: Option<&'a str>,
}

/// That somebody was asked.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// The question's id.
    pub id: String,
}

/// Asks a person about the actor's task.
///
/// # Errors
/// [`BoardError::Missing`] when the revision is none of the task's.
pub async fn ask(work: &mut Work, question: Question<'_>) -> Result<Asked, BoardError> {
    let task = work.task()?;
    if let Some(revision) = question.target_revision {
        let known: bool =
            sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM revisions WHERE id = ? AND task = ?)")
                .bind(revision)
                .bind(&task)
                .fetch_one(&mut *work.tx)
                .await?;
        known
            .then_some(())
            .ok_or_else(|| BoardError::missing("revision", revision))?;
    }
    let id = new_id();
    sqlx::query(
        "INSERT INTO human_inputs (id, task, kind, title, prompt, continuation, payload, target_revision, asked_by, at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(&id)
    .bind(&task)
    .bind(question.interaction)
    .bind(question.title)
    .bind(question.prompt)
    .bind(question.continuation)
    .bind(question.payload.to_text()?)
    .bind(question.target_revision)
    .bind(&work.actor)
    .bind(work.at())
    .execute(&mut *work.tx)
    .await?;
    history::append(work, &task, Kind::HumanInputRequested, question.title).await?;
    Ok(Asked { id })
}
