//! The drafts that workers showed, for the owner.

use std::sync::Arc;

use actum::Digest;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State as Shared};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ulid::Ulid;

use super::authenticate;
use crate::Kernel;
use crate::actions::preview;
use crate::calls::State;
use crate::openapi::forms::{Id, Sha256};
use crate::preview::Draft;
use crate::reply::{Refusal, json_value};
use crate::store::{StoreError, StoredCall};

/// The most previews that one answer has.
const PAGE: i64 = 200;

/// A preview, as the owner is told of it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToldPreview {
    /// Its id: that of the call that showed it.
    #[schemars(with = "Id")]
    pub id: Ulid,
    /// The call's task.
    #[schemars(with = "Id")]
    pub task_id: Ulid,
    /// Whom the task's grant was issued to.
    pub principal: Option<String>,
    /// When the call was asked for, RFC 3339 UTC.
    pub at: String,
    /// Where the call stands.
    pub state: State,
    /// The digest of the content.
    #[schemars(with = "Sha256")]
    pub digest: Digest,
    /// The content, exactly; untrusted.
    pub draft: Draft,
    /// The content as plain text in which everything can be seen.
    pub rendered: String,
    /// The file that it was written to, once it was approved.
    pub draft_file: Option<String>,
}

/// `GET /v1/owner/previews`: the newest first.
pub async fn list(
    Shared(kernel): Shared<Arc<Kernel>>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    authenticate(&kernel, &headers)?;
    let mut previews = newer_than(&kernel, Ulid::nil()).await?;
    previews.reverse();
    let body = json!({"ok": true, "previews": previews});
    Ok(json_value(StatusCode::OK, &body))
}

/// `GET /v1/owner/previews/{id}`
pub async fn show(
    Shared(kernel): Shared<Arc<Kernel>>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    authenticate(&kernel, &headers)?;
    let id = id.ok().and_then(|Path(id)| Ulid::from_string(&id).ok());
    let call = match id {
        Some(id) => kernel.store.call(id).await?.filter(was_shown),
        None => None,
    };
    let Some(call) = call else {
        return Err(Refusal::new(
            StatusCode::NOT_FOUND,
            "input_invalid",
            "unknown_preview",
            "there is no such preview; `actum previews` lists them",
        ));
    };
    let told = told(&kernel, call).await?;
    Ok(json_value(
        StatusCode::OK,
        &json!({"ok": true, "preview": told}),
    ))
}

/// The previews that are newer than one, oldest first.
pub(super) async fn newer_than(
    kernel: &Kernel,
    last: Ulid,
) -> Result<Vec<ToldPreview>, StoreError> {
    let calls = kernel.store.calls_of(preview::id(), last, PAGE).await?;
    let mut newer = Vec::new();
    for call in calls.into_iter().rev().filter(was_shown) {
        newer.push(told(kernel, call).await?);
    }
    Ok(newer)
}

/// Whether a call is a preview that was shown: one that waits is told of as a call that waits.
fn was_shown(call: &StoredCall) -> bool {
    let never_ran = [
        State::Pending,
        State::Approved,
        State::Rejected,
        State::Expired,
        State::Cancelled,
        State::Refused,
    ];
    call.action == preview::id() && !never_ran.contains(&call.state)
}

async fn told(kernel: &Kernel, call: StoredCall) -> Result<ToldPreview, StoreError> {
    let unreadable = |error: serde_json::Error| StoreError::Unreadable(error.to_string());
    let draft: Draft = serde_json::from_str(&call.arguments).map_err(unreadable)?;
    let task = kernel.store.task(call.task_id).await?;
    let file = call.result.as_ref().and_then(|it| it.get("draft_file"));
    Ok(ToldPreview {
        id: call.id,
        task_id: call.task_id,
        principal: task.map(|task| task.grant.as_issued().principal.to_string()),
        at: call.created_at,
        state: call.state,
        digest: draft.digest()?,
        rendered: draft.rendered(),
        draft_file: file.and_then(Value::as_str).map(str::to_owned),
        draft,
    })
}
