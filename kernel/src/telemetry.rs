//! What a running kernel tells its operator: a log on standard error and, where the configuration names a collector,
//! traces by OTLP.
//!
//! A trace is the kernel's own spans, of target [`SPANS`], and below them whatever a handler's code says at level `INFO` and
//! above. The spans have ids, routes, verdicts and outcomes, and nothing of arguments or results.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response, ResponseBodyTooLarge};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use tokio::runtime::Handle;
use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{FilterExt as _, Targets, filter_fn};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::Traces;

/// The target of the kernel's own spans. They are of level `DEBUG`, so that an ordinary log does without them.
pub(crate) const SPANS: &str = "actum::spans";

/// How long a stopping kernel tries to send the traces that are left.
const LAST_SEND: Duration = Duration::from_secs(5);
/// The longest that one send may take.
const SEND: Duration = Duration::from_secs(10);
/// The most that is read of a collector's answer, in bytes.
const MOST_ANSWERED: usize = 64 * 1024;

/// Whether an event may be logged at all, whatever was asked for. rmcp writes down whole messages at the levels below `WARN`, and
/// a message can hold a secret that is for the model alone. A program with a subscriber of its own filters by this.
#[must_use]
pub fn may_be_logged(event: &Metadata<'_>) -> bool {
    let is_of_rmcp = event.target() == "rmcp" || event.target().starts_with("rmcp::");
    !is_of_rmcp || *event.level() <= Level::WARN
}

/// The log, and the traces that are under way.
#[derive(Debug)]
pub(crate) struct Telemetry(Option<SdkTracerProvider>);

impl Telemetry {
    /// Begins to tell. A subscriber that the host has set before stays.
    ///
    /// # Errors
    /// Why traces cannot be sent.
    pub(crate) fn start(traces: Option<&Traces>) -> Result<Self, String> {
        let log = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
        let log = tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_filter(log.and(filter_fn(may_be_logged)));
        let provider = traces.map(provider).transpose()?;
        let traced = provider.as_ref().map(|provider| {
            let of = Targets::new()
                .with_default(Level::INFO)
                .with_target(SPANS, Level::DEBUG);
            tracing_opentelemetry::layer()
                .with_tracer(provider.tracer("actum"))
                .with_location(false)
                .with_threads(false)
                .with_tracked_inactivity(false)
                .with_filter(of.and(filter_fn(may_be_logged)))
        });
        let _ = tracing_subscriber::registry()
            .with(log)
            .with(traced)
            .try_init();
        Ok(Self(provider))
    }

    /// Sends what is left.
    pub(crate) async fn stop(self) {
        let Some(provider) = self.0 else { return };
        // It waits for a thread of its own, which waits for this runtime to send, and tells what it cannot.
        let ended = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(LAST_SEND));
        let _ = ended.await;
    }
}

fn provider(traces: &Traces) -> Result<SdkTracerProvider, String> {
    let told = |problem: &dyn std::fmt::Display| format!("traces: {problem}");
    let client = crate::http::client()
        .timeout(SEND)
        .build()
        .map_err(|error| told(&error))?;
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(traces.endpoint.value.clone())
        .with_timeout(SEND)
        .with_http_client(Sender {
            client,
            runtime: Handle::current(),
            is_failing: AtomicBool::new(false),
        })
        .build()
        .map_err(|error| told(&error))?;
    let mut resource = Resource::builder();
    if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
        resource = resource.with_service_name("actum");
    }
    let version = opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    #[allow(clippy::cast_precision_loss)] // the configuration's check keeps it below a million
    let ratio = 1.0 / traces.one_in.value as f64;
    Ok(SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(resource.with_attribute(version).build())
        // By the trace's id, and not by what the caller says: a stranger's `traceparent` must not decide what is kept.
        .with_sampler(Sampler::TraceIdRatioBased(ratio))
        .build())
}

/// The client that traces are sent by: asked on the exporter's own thread, at work on the kernel's runtime.
#[derive(Debug)]
struct Sender {
    client: reqwest::Client,
    runtime: Handle,
    /// Whether the last ones could not be sent, which is told once and not with each.
    is_failing: AtomicBool,
}

#[async_trait]
impl HttpClient for Sender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let sent = self.runtime.spawn(async move {
            let mut answer = client.execute(request.try_into()?).await?;
            let mut body = Vec::new();
            while let Some(piece) = answer.chunk().await? {
                if body.len() + piece.len() > MOST_ANSWERED {
                    return Err(HttpError::from(ResponseBodyTooLarge::new()));
                }
                body.extend_from_slice(&piece);
            }
            let mut response = Response::builder().status(answer.status());
            if let Some(headers) = response.headers_mut() {
                *headers = std::mem::take(answer.headers_mut());
            }
            Ok(response.body(Bytes::from(body))?)
        });
        let sent = sent.await?;
        let problem = match &sent {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("the collector answers {}", answer.status())),
            Err(error) => Some(error.to_string()),
        };
        let was_failing = self.is_failing.swap(problem.is_some(), Ordering::Relaxed);
        match problem {
            Some(problem) if !was_failing => {
                tracing::warn!(
                    problem,
                    "traces cannot be sent; until they can, they are lost"
                );
            }
            None if was_failing => tracing::info!("traces can be sent again"),
            _ => {}
        }
        sent
    }
}
