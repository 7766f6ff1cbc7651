//! The door for the Model Context Protocol: Streamable HTTP at `/mcp`, revisions 2025-06-18, 2025-11-25 and 2026-07-28.
//!
//! Each request presents its task's token, and what it is answered follows from that token alone. rmcp speaks the protocol;
//! the one message that is answered here is `tools/list`, of ready bytes. Calls go through
//! [`mediate`](crate::mediate) and nothing else.

mod line;
mod listing;
mod post;
mod prompts;
mod resources;
mod server;
mod sessions;
mod settings;
mod tasks;
mod told;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::Full;
use rmcp::model::ErrorCode;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};

use crate::Kernel;
use crate::auth::LiveTask;
use crate::reply::{Refusal, json_value};
use crate::request::read_body;
use crate::worker::authenticate;
pub(crate) use post::Questions;
use server::Server;
pub(crate) use sessions::Sessions;
pub(crate) use watch::Announcements;

/// How often an open stream that says nothing shows that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// What names a session.
const SESSION: &str = "mcp-session-id";

/// `/mcp`, whatever the method.
pub async fn door(State(kernel): State<Arc<Kernel>>, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    if let Err(refusal) = visits(&kernel, &parts.headers) {
        return refusal.into_response();
    }
    let task = match authenticate(&kernel, &parts.headers).await {
        Ok(task) => task,
        Err(refusal) => return challenged(&kernel, refusal),
    };
    match parts.method {
        Method::POST => message(&kernel, task, parts, body).await,
        // The stream that a session's notices come by, and a session's end.
        _ => hand_over(&kernel, task, parts, Bytes::new(), true).await,
    }
}

/// A message that was posted.
async fn message(kernel: &Arc<Kernel>, task: Arc<LiveTask>, parts: Parts, body: Body) -> Response {
    let bytes = match read_body(body, kernel.limits.body_bytes.value).await {
        Ok(bytes) => bytes,
        Err(refusal) => return refusal.into_response(),
    };
    // Stricter than rmcp, which keeps the last of two equal keys.
    let message = match actum::json::parse(&bytes) {
        Ok(message) => message,
        Err(fault) => {
            let told = format!("no JSON that is taken here: {fault}");
            return fault_of(
                StatusCode::BAD_REQUEST,
                &Value::Null,
                ErrorCode::PARSE_ERROR,
                &told,
            );
        }
    };
    let id = message.get("id").unwrap_or(&Value::Null);
    if !message.is_object() {
        let told = "a message is one JSON-RPC object";
        return fault_of(
            StatusCode::BAD_REQUEST,
            id,
            ErrorCode::INVALID_REQUEST,
            told,
        );
    }
    let method = message.get("method").and_then(Value::as_str);
    if method == Some("tools/call") && !is_call(&message) {
        let told = "a call has a `name` and, as an object, `arguments`";
        return fault_of(StatusCode::OK, id, ErrorCode::INVALID_PARAMS, told);
    }
    if method == Some("tools/list")
        && let Some(answer) = listing::answer(kernel, &task, &parts.headers, &message).await
    {
        return answer;
    }
    let is_of_a_session = parts.headers.contains_key(SESSION) || method == Some("initialize");
    hand_over(kernel, task, parts, bytes, is_of_a_session).await
}

/// Whether the parameters of a call can be read at all. rmcp would take them for another method's.
fn is_call(message: &Value) -> bool {
    let params = message.get("params");
    let is_named = params
        .and_then(|params| params.get("name"))
        .is_some_and(Value::is_string);
    let arguments = params.and_then(|params| params.get("arguments"));
    is_named && arguments.is_none_or(Value::is_object)
}

/// Has rmcp answer. It finds the task in the request, so that a session's requests are those of the task that each presents.
async fn hand_over(
    kernel: &Arc<Kernel>,
    task: Arc<LiveTask>,
    mut parts: Parts,
    body: Bytes,
    is_of_a_session: bool,
) -> Response {
    let is_another = !parts.headers.contains_key(SESSION);
    // rmcp keeps the headers with each message.
    parts.headers.remove(header::AUTHORIZATION);
    parts.extensions.insert(Arc::clone(&task));
    let request = Request::from_parts(parts, Full::new(body));
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_json_response(true)
        .with_sse_keep_alive(Some(KEEP_ALIVE))
        .with_max_request_body_bytes(kernel.limits.body_bytes.value);
    if !is_of_a_session {
        let ending = kernel.stopping.child_token();
        let config = config
            .with_legacy_session_mode(false)
            .with_cancellation_token(ending);
        let server = Server::new(Arc::clone(kernel), None);
        let sessions = Arc::new(NeverSessionManager::default());
        return serve(server, sessions, config, request).await;
    }
    match kernel.mcp.of(kernel, &task) {
        Some(sessions) => {
            let config = config.with_cancellation_token(sessions.ending());
            let server = Server::new(Arc::clone(kernel), Some(Arc::clone(&sessions)));
            let response = serve(server, sessions.manager(), config, request).await;
            let begun = response.headers().get(SESSION).filter(|_| is_another);
            if let Some(Ok(begun)) = begun.map(|session| session.to_str()) {
                sessions.has_begun(begun).await;
            }
            response
        }
        None => Refusal::busy().into_response(),
    }
}

async fn serve<M: SessionManager>(
    server: Server,
    sessions: Arc<M>,
    config: StreamableHttpServerConfig,
    request: Request<Full<Bytes>>,
) -> Response {
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    service.handle(request).await.map(Body::new)
}

/// Says where tokens come from, if the operator says so: RFC 9728.
fn challenged(kernel: &Kernel, refusal: Refusal) -> Response {
    let mut response = refusal.into_response();
    if response.status() == StatusCode::UNAUTHORIZED
        && let Some(challenge) = kernel.mcp_settings.challenge()
        && let Ok(challenge) = challenge.parse()
    {
        let headers = response.headers_mut();
        headers.insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// `GET /.well-known/oauth-protected-resource/mcp`, for anybody: RFC 9728.
pub async fn protected_resource(State(kernel): State<Arc<Kernel>>) -> Result<Response, Refusal> {
    let metadata = kernel.mcp_settings.metadata();
    let metadata = metadata.ok_or_else(Refusal::nothing_here)?;
    Ok(json_value(StatusCode::OK, &metadata))
}

/// Turns away the pages that a browser was lured to: those that another origin's script sends, and those of a name that
/// was made to lead here. An address that is written in numbers cannot be made to.
fn visits(kernel: &Kernel, headers: &HeaderMap) -> Result<(), Refusal> {
    let host = headers.get(header::HOST).map(|host| host.to_str());
    let is_known_host = match host {
        Some(Ok(host)) => kernel.mcp_settings.takes_host(host),
        Some(Err(_)) | None => false,
    };
    let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str());
    let is_known_origin = match origin {
        None => true,
        Some(Ok(origin)) => kernel.mcp_settings.takes_origin(origin),
        Some(Err(_)) => false,
    };
    let (reason, message) = match (is_known_host, is_known_origin) {
        (true, true) => return Ok(()),
        (false, _) => (
            "host_unknown",
            "this host name is not the kernel's; the operator adds it to `mcp.hosts`",
        ),
        (true, false) => (
            "origin_unknown",
            "pages of this origin may not call; the operator adds it to `mcp.origins`",
        ),
    };
    Err(Refusal::new(
        StatusCode::FORBIDDEN,
        "policy_denied",
        reason,
        message,
    ))
}

/// A JSON-RPC error.
fn fault_of(status: StatusCode, id: &Value, code: ErrorCode, message: &str) -> Response {
    let error = json!({"code": code.0, "message": message});
    json_value(status, &json!({"jsonrpc": "2.0", "id": id, "error": error}))
}
