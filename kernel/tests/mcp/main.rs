//! The MCP door, by an official client and by bytes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

#[path = "../support/mod.rs"]
mod support;

mod calls;
mod door;
mod line;
mod listing;
mod questions;
mod read;
mod sessions;
mod stdio;
mod tasks;

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientLifecycleMode, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ClientServiceExt};
use serde_json::{Value, json};

use support::client::{Client, Task};

const STATUS: &str = "openspine-status-read";
const PREVIEW: &str = "lyra-ui-preview";
const READ: &str = "email-read_thread--selected_no_attachments";

/// The longest that a test waits to hear of something.
const SOON: Duration = Duration::from_secs(20);

/// rmcp's client, with a task's token.
async fn connected<H: ClientHandler>(
    kernel: &Client,
    token: &str,
    handler: H,
) -> RunningService<RoleClient, H> {
    connected_by(ClientLifecycleMode::Initialize, kernel, token, handler).await
}

/// The same, by the revision without sessions.
async fn discovered<H: ClientHandler>(
    kernel: &Client,
    token: &str,
    handler: H,
) -> RunningService<RoleClient, H> {
    let newest = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    connected_by(newest, kernel, token, handler).await
}

async fn connected_by<H: ClientHandler>(
    lifecycle: ClientLifecycleMode,
    kernel: &Client,
    token: &str,
    handler: H,
) -> RunningService<RoleClient, H> {
    let config = StreamableHttpClientTransportConfig::with_uri(format!("{}/mcp", kernel.url))
        .auth_header(token);
    let transport = StreamableHttpClientTransport::with_client(kernel.http.clone(), config);
    let served = handler.serve_with_lifecycle(transport, lifecycle).await;
    served.unwrap()
}

async fn owner(kernel: &Client) -> Task {
    let event = json!({
        "event_type": "chat.message", "channel_account": "front-page",
        "actor_hint": {"handle": "robin"},
    });
    kernel.begin("signed_in_chat", &event).await
}

async fn stranger(kernel: &Client) -> Task {
    let event = json!({"event_type": "chat.message", "channel_account": "front-page"});
    kernel.begin("public_chat", &event).await
}

fn message(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

/// The same, of the revision without sessions.
fn sessionless(method: &str, mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    message(method, params)
}

/// The call of a tool with arguments.
fn call(name: &str, arguments: Value) -> Value {
    message("tools/call", json!({"name": name, "arguments": arguments}))
}

fn draft() -> Value {
    json!({"title": "Answer", "kind": "text", "body": "Tuesday at nine."})
}

/// Has the owner decide on a call.
async fn decide(kernel: &Client, call: &str, decision: &str) {
    let shown = kernel.owner_get(&format!("/v1/owner/calls/{call}")).await;
    let seen = json!({"binding": shown.at("/call/binding")});
    let path = format!("/v1/owner/calls/{call}/{decision}");
    let decided = kernel.owner_post(&path, &seen).await;
    assert_eq!(decided.status, 200, "{}", decided.text());
}

/// The reason that a call was refused for, which its model reads.
#[track_caller]
fn refused(answer: &Value) -> String {
    let result = &answer["result"];
    assert_eq!(result["isError"], true, "{answer}");
    assert_eq!(result.get("structuredContent"), None, "{answer}");
    let told: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    told["error"]["reason"].as_str().unwrap().to_owned()
}

/// What is told to a client that listens without a session.
struct Stream {
    response: reqwest::Response,
    heard: String,
}

impl Stream {
    /// Listens for these.
    async fn listen(kernel: &Client, token: &str, notifications: Value) -> Self {
        let params = json!({"notifications": notifications});
        let response = kernel
            .http
            .post(format!("{}/mcp", kernel.url))
            .bearer_auth(token)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "subscriptions/listen")
            .body(sessionless("subscriptions/listen", params).to_string())
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), 200);
        let heard = String::new();
        Self { response, heard }
    }

    /// Waits until something was told; all that was since the last time.
    async fn hear(&mut self, wanted: &str) -> String {
        let hearing = async {
            while !self.heard.contains(wanted) {
                let piece = self.response.chunk().await.unwrap();
                let piece = piece.unwrap_or_else(|| panic!("it ends with {}", self.heard));
                self.heard.push_str(std::str::from_utf8(&piece).unwrap());
            }
        };
        let heard = tokio::time::timeout(SOON, hearing).await;
        heard.expect("it is told");
        std::mem::take(&mut self.heard)
    }

    /// Waits until it ends.
    async fn ends(mut self) {
        let ends = async { while let Ok(Some(_)) = self.response.chunk().await {} };
        tokio::time::timeout(SOON, ends).await.expect("it ends");
    }
}
