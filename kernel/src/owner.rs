//! The owner's door: messages, selections, taking a task back, having the ledger signed.

pub(crate) mod approvals;
pub(crate) mod artifacts;
pub(crate) mod change;
pub(crate) mod manifests;
pub(crate) mod previews;
mod rendered;
pub(crate) mod settle;

use std::sync::Arc;
use std::time::Duration;

use actum::authority::terms::TargetRefKind;
use actum::authority::{ActorHint, TargetRef};
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use ulid::Ulid;

use crate::Kernel;
use crate::connector::begin;
use crate::ingress::PostedEvent;
use crate::reply::{Refusal, json_value};
use crate::request::{presents, shaped_body};

/// How many messages one answer has at most.
const PAGE: i64 = 100;

fn authenticate(kernel: &Kernel, headers: &HeaderMap) -> Result<(), Refusal> {
    presents(headers, &kernel.owner_key)
}

/// Where to go on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    #[serde(default)]
    after: i64,
    /// Seconds to wait for the first message, at most 20 and half of `limits.request_seconds`.
    #[serde(default)]
    wait: u64,
    /// Also tell of the calls that wait and are newer than this one.
    #[serde(default)]
    calls_after: Option<Ulid>,
    /// Also tell of the drafts that were shown and are newer than this one.
    #[serde(default)]
    previews_after: Option<Ulid>,
}

/// `GET /v1/owner/messages?after=N&wait=SECONDS&calls_after=CALL&previews_after=PREVIEW`
pub async fn messages(
    State(kernel): State<Arc<Kernel>>,
    headers: HeaderMap,
    query: Result<Query<After>, QueryRejection>,
) -> Result<Response, Refusal> {
    authenticate(&kernel, &headers)?;
    let Query(After {
        after,
        wait,
        calls_after,
        previews_after,
    }) = query.map_err(|rejection| Refusal::invalid(rejection.body_text()))?;
    let deadline = tokio::time::Instant::now()
        + Duration::from_secs(wait.min(20).min(kernel.limits.request_seconds.value / 2));
    loop {
        // Registered before the look, so that a message written in between is not missed.
        let news = kernel.news.notified();
        let messages = kernel.store.messages_after(after, PAGE).await?;
        let calls = match calls_after {
            Some(last) => approvals::newer_than(&kernel, last).await?,
            None => Vec::new(),
        };
        let previews = match previews_after {
            Some(last) => previews::newer_than(&kernel, last).await?,
            None => Vec::new(),
        };
        let is_over = !(messages.is_empty() && calls.is_empty() && previews.is_empty())
            // Before the wait: a request may come in after the bell of the stop has rung.
            || kernel.stopping.is_cancelled()
            || tokio::time::timeout_at(deadline, news).await.is_err();
        if is_over {
            let mut body = json!({"ok": true, "messages": messages});
            if let (Some(body), true) = (body.as_object_mut(), calls_after.is_some()) {
                body.insert("calls".to_owned(), json!(calls));
            }
            if let (Some(body), true) = (body.as_object_mut(), previews_after.is_some()) {
                body.insert("previews".to_owned(), json!(previews));
            }
            return Ok(json_value(StatusCode::OK, &body));
        }
    }
}

/// `GET /v1/owner/threads`
pub async fn threads(
    State(kernel): State<Arc<Kernel>>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    authenticate(&kernel, &headers)?;
    let threads = kernel.mail.threads().await.map_err(|error| {
        tracing::warn!(error = error.message(), "the mailbox cannot be listed");
        Refusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "operation_unsupported",
            "unavailable",
            error.message(),
        )
    })?;
    Ok(json_value(
        StatusCode::OK,
        &json!({"ok": true, "threads": threads}),
    ))
}

/// What the owner selects.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SelectionBody {
    /// Its id, as the list of threads has it.
    thread: String,
}

/// `POST /v1/owner/selections`: the owner selects a mail thread, and a task for it begins.
pub async fn select(
    State(kernel): State<Arc<Kernel>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    authenticate(&kernel, &headers)?;
    let SelectionBody { thread } = shaped_body(body, kernel.limits.body_bytes.value).await?;
    let exists = kernel.mail.has_thread(&thread).await.map_err(|error| {
        Refusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "operation_unsupported",
            "unavailable",
            error.message(),
        )
    })?;
    if !exists {
        return Err(Refusal::new(
            StatusCode::NOT_FOUND,
            "input_invalid",
            "unknown_thread",
            "the mailbox has no such thread; `actum select` without a thread lists them",
        ));
    }
    let posted = PostedEvent {
        connector: None,
        event_type: "email.thread.selected".to_owned(),
        channel_account: kernel.owner.device_id.clone(),
        actor_hint: ActorHint {
            device_id: Some(kernel.owner.device_id.clone()),
            ..ActorHint::default()
        },
        message: None,
        thread_id: None,
        target_refs: vec![TargetRef {
            kind: TargetRefKind::EmailThread,
            id: Some(thread),
        }],
    };
    let connector = kernel.owner_connector().ok_or_else(|| {
        Refusal::new(
            StatusCode::FORBIDDEN,
            "policy_denied",
            "no_route",
            "`owner.connector` is not there",
        )
    })?;
    begin(&kernel, connector, &posted).await
}

/// `POST /v1/owner/ledger/checkpoint`: the newest checkpoint, of every record that there is.
pub async fn sign_ledger(
    State(kernel): State<Arc<Kernel>>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    authenticate(&kernel, &headers)?;
    let checkpoint = kernel.store.checkpoint(kernel.now()).await?;
    Ok(json_value(
        StatusCode::OK,
        &json!({"ok": true, "checkpoint": checkpoint}),
    ))
}

/// `POST /v1/owner/tasks/{id}/revoke`: the task, and all that descend from it.
pub async fn revoke(
    State(kernel): State<Arc<Kernel>>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    authenticate(&kernel, &headers)?;
    let id = id.ok().and_then(|Path(id)| Ulid::from_string(&id).ok());
    let revoked = match id {
        Some(task) => kernel.take_back(task).await?,
        None => Vec::new(),
    };
    if revoked.is_empty() {
        return Err(Refusal::new(
            StatusCode::NOT_FOUND,
            "input_invalid",
            "unknown_task",
            "there is no such task that is not over already",
        ));
    }
    Ok(json_value(
        StatusCode::OK,
        &json!({"ok": true, "task_id": id, "revoked": true, "tasks": revoked.len()}),
    ))
}
