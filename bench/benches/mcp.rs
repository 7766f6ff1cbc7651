//! MCP at a kernel, against a bare rmcp server of the same tools: no token, no grant, no gate, no record.
//!
//! `cargo bench --manifest-path bench/Cargo.toml --bench mcp`
//!
//! Both servers live on one thread, and a client of plain blocking sockets asks them in turn. A kernel's call is two
//! transactions that are on the disk before it is answered; the disk is that of the temporary folder.
#![allow(
    clippy::unwrap_used,
    reason = "a benchmark whose set-up fails has nothing to measure"
)]

use std::net::SocketAddr;
use std::sync::Arc;

use actum_bench::board::grant_every_tool;
use actum_bench::served::{Client, in_turn, listen, one_thread, start_kernel};
use actum_bench::{Aim, Pair, head, row};
use actum_kernel::sample;
use axum::Router;
use axum::body::Bytes;
use axum::http::header;
use axum::routing::post;
use rmcp::RoleServer;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// Connections that always have a request under way.
const CONNECTIONS: usize = 32;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let config = sample::write_once(folder.path()).unwrap();
    grant_every_tool(folder.path());
    let server = one_thread();
    let (kernel, token) = start_kernel(&server, &config);

    let request = |address: SocketAddr, message: &Value| {
        let body = message.to_string();
        format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let mut ours = Client::new(kernel, &request(kernel, &list), CONNECTIONS);
    let tools = part(&ours, "tools");
    let bare = start_bare(&server, serde_json::from_value(tools.clone()).unwrap());
    let mut theirs = Client::new(bare, &request(bare, &list), CONNECTIONS);
    // What a client reads is the same: rmcp writes the fields in another order.
    assert_eq!(part(&theirs, "tools"), tools);

    head(
        "tools/list against a bare rmcp server of the same tools",
        "req/s",
        "rmcp, req/s",
    );
    let count = tools.as_array().unwrap().len();
    let name = format!("{count} tools, {} connections", CONNECTIONS);
    row(
        &name,
        &in_turn(&mut ours, &mut theirs, 41, 400),
        Aim::AtLeast(5.0),
    );
    drop(theirs);
    // What is to be had at all: the answer's bytes, for whoever asks.
    let same = start_same(&server, ours.answer.split_once("\r\n\r\n").unwrap().1);
    let mut theirs = Client::new(same, &request(same, &list), CONNECTIONS);
    let pair = in_turn(&mut ours, &mut theirs, 41, 400);
    row("against axum, which only sends the bytes", &pair, Aim::None);
    drop((ours, theirs));

    head(
        "tools/call of a tool that does nothing, against the same",
        "us",
        "rmcp, us",
    );
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "board-list_column_01",
        "arguments": {"query": "", "newest": 5, "with_archived": false},
    }});
    for connections in [1, CONNECTIONS] {
        let mut ours = Client::new(kernel, &request(kernel, &call), connections);
        let mut theirs = Client::new(bare, &request(bare, &call), connections);
        assert_eq!(
            part(&ours, "structuredContent"),
            part(&theirs, "structuredContent")
        );
        let pair = in_turn(&mut ours, &mut theirs, 21, 200);
        row(
            &format!("recorded durably, {connections} at once"),
            &latency(&pair, connections),
            Aim::AtMost(1.3),
        );
    }
    server.shutdown_background();
}

/// A server that reads what it is sent, and answers all of it with these bytes.
fn start_same(server: &Runtime, answer: &str) -> SocketAddr {
    let answer = Bytes::copy_from_slice(answer.as_bytes());
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let same = move |_: Bytes| async move { (headers, answer) };
    server.block_on(async {
        let (listener, address) = listen().await;
        let router = Router::new().route("/mcp", post(same));
        tokio::spawn(async { axum::serve(listener, router).await });
        address
    })
}

/// A part of the result that a server answers with.
fn part(client: &Client, name: &str) -> Value {
    let (_, body) = client.answer.split_once("\r\n\r\n").unwrap();
    let answer: Value = serde_json::from_str(body).unwrap();
    let part = answer.get("result").and_then(|result| result.get(name));
    part.unwrap_or_else(|| unreachable!("{answer}")).clone()
}

/// Microseconds from a request to its answer, of so many requests a second.
fn latency(pair: &Pair, connections: usize) -> Pair {
    pair.inverted(|throughput| connections as f64 * 1e6 / throughput)
}

/// A server that has these tools.
#[derive(Clone)]
struct Bare(Arc<Vec<Tool>>);

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("bare", "1"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items((*self.0).clone()))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::structured(json!({"titles": []})).into())
    }
}

fn start_bare(server: &Runtime, tools: Vec<Tool>) -> SocketAddr {
    let bare = Bare(Arc::new(tools));
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(bare.clone()), sessions, config);
    server.block_on(async {
        let (listener, address) = listen().await;
        let router = Router::new().route_service("/mcp", service);
        tokio::spawn(async { axum::serve(listener, router).await });
        address
    })
}
