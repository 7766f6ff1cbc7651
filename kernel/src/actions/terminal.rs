//! `terminal.reply:owner_device`

use std::sync::Arc;

use actum::{ActionError, Call, action};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::store::Store;

/// The owner's terminal: a stored list of messages, and a bell.
#[derive(Debug)]
pub struct OwnerTerminal {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) news: Arc<Notify>,
}

/// What to show.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowText {
    /// The text to show to the owner, 1 to 4,000 characters.
    #[schemars(length(min = 1, max = 4000))]
    pub text: String,
}

/// That it was delivered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Delivered {
    /// Where to.
    pub delivered_to: String,
}

/// Shows a message on the owner's terminal (`actum attach`). Needs no approval: it reaches the owner
/// alone, who sees there whose task wrote it.
#[action(
    id = "terminal.reply:owner_device",
    title = "Reply on the owner's terminal",
    description = "Show a message on the owner's own terminal.",
    egress(channels = ["terminal.owner.reply"])
)]
pub async fn reply(
    terminal: &OwnerTerminal,
    call: &Call,
    ask: ShowText,
) -> Result<Delivered, ActionError> {
    terminal
        .store
        .post_message(call.task_id, &call.principal, &ask.text, call.at)
        .await?;
    terminal.news.notify_waiters();
    Ok(Delivered {
        delivered_to: "owner_device".to_owned(),
    })
}
