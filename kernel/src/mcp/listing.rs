//! `tools/list`, of ready bytes: a pure function of the presented token.
//!
//! What stands in doubt is left to rmcp, which has the protocol's words for it and comes back to the same bytes.

use std::fmt::Write as _;
use std::sync::Arc;

use actum::project;
use actum::provider::Provider;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use data_encoding::BASE64URL_NOPAD;
use rmcp::model::ErrorCode;
use serde_json::{Map, Value};

use super::server::{SESSIONLESS, WITH_SESSIONS};
use super::{SESSION, fault_of};
use crate::Kernel;
use crate::auth::LiveTask;
use crate::reply::json_text;
use crate::views::{Form, Written};

/// The most tools of one page.
const PAGE: usize = 100;
/// Of a request's `_meta`.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A cursor that was never given out.
#[derive(Debug)]
pub(super) struct UnknownCursor;

/// One page of a task's tools, as a JSON array, and what a client presents for the next one. A cursor is the name of the last tool that was told, so that a page follows from the token and
/// the cursor, also when the tools have changed in between.
pub(super) fn page(
    kernel: &Kernel,
    task: &LiveTask,
    cursor: Option<&str>,
) -> Result<Written, UnknownCursor> {
    let decode = |cursor: &str| {
        let bytes = BASE64URL_NOPAD.decode(cursor.as_bytes()).ok()?;
        let id = String::from_utf8(bytes).ok()?;
        actum::ActionId::parse(&id).ok().map(|_| id)
    };
    let after = cursor.map(|cursor| decode(cursor).ok_or(UnknownCursor));
    let after = after.transpose()?;
    let catalog = kernel.at_hand();
    let write = || {
        let view = project(&task.grant, &catalog);
        let mut tools = String::with_capacity(view.tools_len());
        let last = view.write_page_for(Provider::Mcp, after.as_deref(), PAGE, &mut tools);
        Written {
            text: tools.into(),
            next: last.map(|last| BASE64URL_NOPAD.encode(last.as_str().as_bytes())),
        }
    };
    Ok(match after {
        // Cursors can be made up.
        Some(_) => write(),
        None => kernel.views.of(task, &catalog, Form::Page, write),
    })
}

/// How long a client may show what it was told, in milliseconds: as long as the operator says, and no longer than the task.
pub(super) fn fresh_for(kernel: &Kernel, task: &LiveTask) -> u64 {
    let left = task.grant.expires_at().duration_since(kernel.now());
    let left = u64::try_from(left.as_millis()).unwrap_or(0);
    left.min(kernel.mcp_settings.list_seconds().saturating_mul(1_000))
}

/// The answer, where the request is as it should be.
pub(super) async fn answer(
    kernel: &Arc<Kernel>,
    task: &Arc<LiveTask>,
    headers: &HeaderMap,
    message: &Value,
) -> Option<Response> {
    let id = message.get("id")?;
    let is_request = message.get("jsonrpc")?.as_str()? == "2.0" && (id.is_string() || id.is_u64());
    if !is_request || !takes_json(headers) {
        return None;
    }
    let nothing = Map::new();
    let params = match message.get("params") {
        None => &nothing,
        Some(params) => params.as_object()?,
    };
    let cursor = match params.get("cursor") {
        None => None,
        Some(cursor) => Some(cursor.as_str()?),
    };
    let is_sessionless = speaks(headers, params)?;
    if let Some(session) = headers.get(SESSION) {
        // One that is over, or another task's, is rmcp's to refuse.
        let sessions = kernel.mcp.existing(task.id)?;
        if is_sessionless || !sessions.has(session.to_str().ok()?).await {
            return None;
        }
    }
    let Ok(page) = page(kernel, task, cursor) else {
        let (code, told) = (ErrorCode::INVALID_PARAMS, "unknown cursor");
        return Some(fault_of(StatusCode::OK, id, code, told));
    };
    let mut body = String::with_capacity(page.text.len() + 160);
    let _ = write!(body, r#"{{"jsonrpc":"2.0","id":{id},"result":{{"#);
    if is_sessionless {
        let fresh = fresh_for(kernel, task);
        let _ = write!(
            body,
            r#""resultType":"complete","ttlMs":{fresh},"cacheScope":"private","#
        );
    }
    if let Some(next) = page.next {
        let _ = write!(body, r#""nextCursor":"{next}","#);
    }
    let mut body = Vec::from(body);
    body.extend_from_slice(br#""tools":"#);
    body.extend_from_slice(&page.text);
    body.extend_from_slice(b"}}");
    Some(json_text(StatusCode::OK, body))
}

fn takes_json(headers: &HeaderMap) -> bool {
    let has = |name, wanted: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.is_some_and(|value| value.contains(wanted))
    };
    has(header::CONTENT_TYPE, "application/json")
        && has(header::ACCEPT, "application/json")
        && has(header::ACCEPT, "text/event-stream")
}

/// Whether the client speaks the revision without sessions; `None` where it does not say so as it should.
fn speaks(headers: &HeaderMap, params: &Map<String, Value>) -> Option<bool> {
    let text = |name: &str| {
        let mut all = headers.get_all(name).iter();
        match (all.next(), all.next()) {
            (None, _) => Some(None),
            (Some(one), None) => one.to_str().ok().map(Some),
            (Some(_), Some(_)) => None,
        }
    };
    let named = text("mcp-protocol-version")?;
    let meta = params.get("_meta").and_then(Value::as_object);
    match meta.and_then(|meta| meta.get(VERSION)) {
        Some(version) => {
            let declares = meta.and_then(|meta| meta.get(CAPABILITIES));
            let is_right = version.as_str()? == SESSIONLESS.as_str()
                && named == Some(SESSIONLESS.as_str())
                && text("mcp-method")? == Some("tools/list")
                && declares.is_some_and(Value::is_object);
            is_right.then_some(true)
        }
        None => match named {
            None => Some(false),
            Some(version) => WITH_SESSIONS
                .iter()
                .any(|known| known.as_str() == version)
                .then_some(false),
        },
    }
}
