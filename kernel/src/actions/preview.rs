//! `lyra.ui.preview`

use actum::schema::ArgumentFault;
use actum::{ActionError, Call, action};
use schemars::JsonSchema;
use serde::Serialize;

use super::terminal::OwnerTerminal;
use crate::connectors::drafts::Drafts;
use crate::preview::{Draft, DraftKind};

/// That it was shown.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Previewed {
    /// The preview's id: that of this call.
    pub preview_id: String,
    /// The digest of exactly what was shown, by which a later proposal can name it.
    pub digest: String,
    /// The file that an approved mail draft was written to, among the mailbox's drafts.
    pub draft_file: Option<String>,
}

/// Shows a draft to the owner. Needs no approval of its own: it reaches the owner alone, who sees whose task wrote it.
/// Where a grant asks for approval all the same, the owner's yes is to a mail draft: then, and only then, it is put
/// among the mailbox's drafts, once, for the owner to send.
#[action(
    id = "lyra.ui.preview",
    title = "Show a draft",
    description = "Show a draft to the owner, and get its digest; a mail draft that the owner approves is put among the owner's drafts.",
    check = is_a_draft
)]
pub async fn preview(
    drafts: &Drafts,
    terminal: &OwnerTerminal,
    call: &Call,
    draft: Draft,
) -> Result<Previewed, ActionError> {
    let digest = draft.digest()?.to_string();
    let is_accepted_mail = call.approved && draft.kind == DraftKind::Mail;
    let draft_file = match is_accepted_mail {
        true => drafts.write(call.request_id, call.at, draft).await?,
        false => None,
    };
    // Whoever watches the owner's terminal is told to look.
    terminal.news.notify_waiters();
    Ok(Previewed {
        preview_id: call.request_id.to_string(),
        digest,
        draft_file,
    })
}

async fn is_a_draft(
    _: &Drafts,
    _: &OwnerTerminal,
    _: &Call,
    draft: &Draft,
) -> Result<Vec<ArgumentFault>, ActionError> {
    Ok(draft.faults())
}

/// The id of this action, as its annotation has it.
pub(crate) fn id() -> &'static str {
    __action_preview.id()
}
