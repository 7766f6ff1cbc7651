//! `email.read_thread:selected_no_attachments`

use std::path::{Path, PathBuf};

use actum::{ActionError, Selection, action};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::connectors::mailbox::{Mailbox, MailboxError, Thread, ThreadId, ThreadSummary};

/// The owner's mailbox, or that there is none. It is read anew for every question, so that what came
/// in since is there.
#[derive(Debug, Clone)]
pub struct MailSource(Option<PathBuf>);

impl MailSource {
    /// No mailbox is configured.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// The mailbox at a path, read once to see that it is one.
    ///
    /// # Errors
    /// [`MailboxError`] when there is no readable mailbox.
    pub fn at(path: &Path) -> Result<Self, MailboxError> {
        let mailbox = Mailbox::open(path)?;
        for fault in mailbox.faults().listed() {
            tracing::warn!(%fault, "a mail is left out");
        }
        Ok(Self(Some(path.to_owned())))
    }

    /// The threads, newest first.
    ///
    /// # Errors
    /// [`ActionError`] when there is no mailbox or it cannot be read.
    pub async fn threads(&self) -> Result<Vec<ThreadSummary>, ActionError> {
        self.ask(|mailbox| mailbox.threads()).await
    }

    /// Whether there is such a thread.
    ///
    /// # Errors
    /// [`ActionError`] when there is no mailbox or it cannot be read.
    pub async fn has_thread(&self, id: &str) -> Result<bool, ActionError> {
        let Ok(id) = id.parse::<ThreadId>() else {
            return Ok(false);
        };
        self.ask(move |mailbox| mailbox.thread(&id, 0).is_some())
            .await
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(Mailbox) -> T + Send + 'static,
    ) -> Result<T, ActionError> {
        let Some(path) = self.0.clone() else {
            return Err(ActionError::unavailable(
                "no mailbox is configured (`mailbox:`)",
            ));
        };
        let opened =
            tokio::task::spawn_blocking(move || Mailbox::open(&path).map(question)).await?;
        opened.map_err(|error| ActionError::unavailable(error.to_string()))
    }
}

/// How much of the thread to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadThread {
    /// How many of the newest messages to return, 1 to 50.
    #[schemars(range(min = 1, max = 50))]
    pub max_messages: u8,
}

/// Reads the thread that the owner selected. Which thread is the selection's to say, not the
/// model's; attachments are counted and left out.
#[action(
    id = "email.read_thread:selected_no_attachments",
    title = "Read the selected mail thread",
    description = "Read the newest messages of the mail thread that the owner selected, without attachments.",
    selection_token = "email_thread_selection",
    read_only
)]
pub async fn read_thread(
    mail: &MailSource,
    thread: &Selection,
    ask: ReadThread,
) -> Result<Thread, ActionError> {
    let id = thread
        .target
        .parse::<ThreadId>()
        .map_err(|_| ActionError::failed("the selection names no thread"))?;
    mail.ask(move |mailbox| mailbox.thread(&id, usize::from(ask.max_messages)))
        .await?
        .ok_or_else(|| ActionError::unavailable("the selected thread is no longer in the mailbox"))
}
