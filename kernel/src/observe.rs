//! Each request as a span and in numbers, whatever route it takes and whoever sent it.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::Response;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::field::Empty;
use tracing::{Instrument as _, Span, debug_span};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::Kernel;
use crate::metrics::UNKNOWN;
use crate::telemetry::SPANS;

/// Counts and times a request, and has its span around all that is done for it.
pub(crate) async fn observed(
    State(kernel): State<Arc<Kernel>>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or(UNKNOWN, MatchedPath::as_str);
    let method = named(request.method());
    let span = span(method, route, request.headers());
    let response = next.run(request).instrument(span.clone()).await;
    let status = response.status();
    span.record("http.response.status_code", status.as_u16());
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
    kernel
        .metrics
        .request(method, route, status.as_u16(), began.elapsed());
    response
}

fn span(method: &'static str, route: &str, headers: &HeaderMap) -> Span {
    let span = debug_span!(
        target: SPANS,
        "request",
        otel.name = Empty,
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
    );
    // Nobody listens unless traces are sent.
    if !span.is_disabled() {
        span.record("otel.name", format!("{method} {route}"));
        let caller = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
        // It fails where no layer takes traces.
        let _ = span.set_parent(caller);
    }
    span
}

/// The methods that there are. A client can make up others.
fn named(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::HEAD => "HEAD",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        Method::PATCH => "PATCH",
        _ => "_OTHER",
    }
}
