//! The connectors' door.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::json;

use crate::Kernel;
use crate::config::Connector;
use crate::ingress::PostedEvent;
use crate::reply::{Refusal, json_value};
use crate::request::{bearer, shaped_body};

/// `POST /v1/events`
pub async fn event(
    State(kernel): State<Arc<Kernel>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let connector = bearer(&headers)
        .and_then(|key| kernel.connector_of(key))
        .ok_or_else(Refusal::unauthenticated)?;
    let posted: PostedEvent = shaped_body(body, kernel.limits.body_bytes.value).await?;
    begin(&kernel, connector, &posted).await
}

/// Takes an event in and answers with its task, for whoever starts the task's worker.
pub(crate) async fn begin(
    kernel: &Kernel,
    connector: &Connector,
    posted: &PostedEvent,
) -> Result<Response, Refusal> {
    let taken_in = kernel.take_in(connector, posted).await?;
    let outcome = taken_in
        .as_ref()
        .map_or_else(|turned| turned.reason, |_| "grant_issued");
    kernel.metrics.event(&connector.id, outcome);
    let issued = taken_in.map_err(|turned| {
        Refusal::new(
            StatusCode::FORBIDDEN,
            "policy_denied",
            turned.reason,
            turned.message,
        )
    })?;
    let selections = issued.selections.iter();
    let body = json!({
        "ok": true,
        "event_id": issued.grant.event_id,
        "route": issued.route,
        "task_id": issued.grant.task_id,
        "task_token": issued.token.reveal(),
        "expires_at": issued.grant.expires_at,
        "selection_tokens": selections
            .map(|selection| json!({"token": selection.id, "type": selection.token_type}))
            .collect::<Vec<_>>(),
    });
    Ok(json_value(StatusCode::CREATED, &body))
}
