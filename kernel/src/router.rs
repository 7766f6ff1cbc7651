//! Every route on one screen.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use tracing::Instrument as _;

use crate::config::Config;
use crate::observe::observed;
use crate::owner::{approvals, artifacts, manifests, previews, settle};
use crate::reply::Refusal;
use crate::{Kernel, connector, mcp, operator, owner, worker};

/// The kernel's routes.
pub fn router(kernel: Arc<Kernel>) -> Router {
    Router::new()
        // Connectors.
        .route("/v1/events", post(connector::event))
        // Workers.
        .route("/v1/task", get(worker::task))
        .route("/v1/actions", post(worker::call))
        .route("/v1/actions/{id}", get(worker::call_state))
        .route("/v1/actions/{id}/cancel", post(worker::cancel))
        // The owner.
        .route("/v1/owner/messages", get(owner::messages))
        .route("/v1/owner/threads", get(owner::threads))
        .route("/v1/owner/selections", post(owner::select))
        .route("/v1/owner/tasks/{id}/revoke", post(owner::revoke))
        .route("/v1/owner/manifests/reload", post(manifests::reload))
        .route("/v1/owner/previews", get(previews::list))
        .route("/v1/owner/previews/{id}", get(previews::show))
        // The owner, and whoever else decides.
        .route("/v1/owner/calls", get(approvals::list))
        .route("/v1/owner/calls/{id}", get(approvals::show))
        .route("/v1/owner/calls/{id}/approve", post(approvals::approve))
        .route("/v1/owner/calls/{id}/reject", post(approvals::reject))
        .route("/v1/owner/calls/{id}/edit", post(approvals::edit))
        .route("/v1/owner/calls/{id}/settle", post(settle::settle))
        .route("/v1/owner/calls/{id}/renew", post(approvals::renew))
        .route("/v1/owner/artifacts", get(artifacts::list))
        .route("/v1/owner/artifacts/{kind}/{id}", get(artifacts::show))
        .route("/v1/owner/ledger/checkpoint", post(owner::sign_ledger))
        .route_layer(middleware::from_fn_with_state(Arc::clone(&kernel), bounded))
        // MCP clients: with bounds of its own, since its answers can be streams.
        .route("/mcp", any(mcp::door))
        .route(
            "/.well-known/oauth-protected-resource",
            get(mcp::protected_resource),
        )
        .route(
            "/.well-known/oauth-protected-resource/mcp",
            get(mcp::protected_resource),
        )
        // The operator: never turned away by load.
        .route("/healthz", get(operator::health))
        .route("/readyz", get(operator::readiness))
        .route("/metrics", get(operator::metrics))
        .fallback(nowhere)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&kernel),
            observed,
        ))
        .with_state(kernel)
}

/// Bounds concurrency and time. What a POST began goes on to its end as a task of its own: a client
/// that hangs up, or whose time is over, must not leave a change half done, or a call recorded as
/// running that nothing runs.
async fn bounded(State(kernel): State<Arc<Kernel>>, request: Request, next: Next) -> Response {
    let time = Config::seconds(&kernel.limits.request_seconds);
    let is_change = request.method() == Method::POST;
    let tasks = kernel.running.clone();
    let answer = async move {
        let Ok(_place) = kernel.places.try_acquire() else {
            return Refusal::busy().into_response();
        };
        next.run(request).await
    }
    .in_current_span();
    let answered = match is_change {
        true => tokio::time::timeout(time, tasks.spawn(answer)).await,
        false => tokio::time::timeout(time, answer).await.map(Ok),
    };
    match answered {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => {
            tracing::error!(%error, "a request ended without an answer");
            unanswered().into_response()
        }
        Err(_) => too_slow().into_response(),
    }
}

fn too_slow() -> Refusal {
    Refusal::new(
        StatusCode::GATEWAY_TIMEOUT,
        "operation_unsupported",
        "too_slow",
        "the request took too long; a call that had begun goes on and is recorded",
    )
}

fn unanswered() -> Refusal {
    Refusal::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "operation_unsupported",
        "unavailable",
        "the kernel could not answer; what it did is recorded",
    )
}

async fn nowhere() -> Refusal {
    Refusal::nothing_here()
}

async fn wrong_method() -> Refusal {
    Refusal::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "input_invalid",
        "unknown_method",
        "this path takes another method",
    )
}
