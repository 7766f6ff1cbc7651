//! The operator's door: health, readiness, and the numbers of [`Metrics`](crate::metrics::Metrics).
//!
//! The numbers name every action, so that they are for the operator's monitoring alone, which has a key of its own and can
//! do nothing else with it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::Kernel;
use crate::metrics::MEDIA_TYPE;
use crate::reply::{Refusal, json_value};
use crate::request::presents;

/// `GET /healthz`: the process is alive.
pub async fn health() -> Response {
    json_value(StatusCode::OK, &json!({"ok": true}))
}

/// `GET /readyz`: the store answers, and the kernel does not stop.
pub async fn readiness(State(kernel): State<Arc<Kernel>>) -> Response {
    match kernel.store.counts().await {
        Ok(_) if !kernel.stopping.is_cancelled() => {
            json_value(StatusCode::OK, &json!({"ok": true}))
        }
        Ok(_) => Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "operation_unsupported",
            "stopping",
            "the kernel is stopping",
        )
        .into_response(),
        Err(error) => Refusal::store(&error).into_response(),
    }
}

/// `GET /metrics`
pub async fn metrics(
    State(kernel): State<Arc<Kernel>>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    presents(&headers, &kernel.metrics_key)?;
    let stored = match kernel.store.counts().await {
        Ok(counts) => Some(counts),
        Err(error) => {
            tracing::warn!(%error, "the store does not tell what it has");
            None
        }
    };
    let places = kernel.limits.concurrent_requests.value;
    let under_way = places.saturating_sub(kernel.places.available_permits());
    let text = kernel.metrics.render(stored.as_ref(), under_way);
    let text = text.ok_or_else(|| {
        Refusal::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "operation_unsupported",
            "unavailable",
            "the numbers could not be written",
        )
    })?;
    let mut response = text.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
