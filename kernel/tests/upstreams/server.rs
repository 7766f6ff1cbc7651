//! A third party's MCP server: rmcp's, with tools that the test says, which notes what it hears.

// Questions of the revisions that have sessions.
#![expect(deprecated)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelledNotificationParam,
    ClientCapabilities, ContentBlock, CreateMessageRequestParams, ElicitRequestParams, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    SamplingMessage, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, Peer, RequestContext};
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::{RoleServer, model::ProtocolVersion};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// The longest that a test waits.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// Less than the time from one look of the kernel to the next, and than the time that a handler has.
pub const SOON: Duration = Duration::from_secs(10);
/// The token that it wants.
pub const TOKEN: &str = "token-of-the-upstream";

/// The server.
pub struct Upstream {
    pub url: String,
    pub shared: Arc<Shared>,
    serving: JoinHandle<()>,
}

#[derive(Default)]
pub struct Shared {
    tools: Mutex<Vec<Tool>>,
    calls: Mutex<Vec<(String, Value)>>,
    peers: Mutex<Vec<Peer<RoleServer>>>,
    capabilities: Mutex<Option<ClientCapabilities>>,
    pub came: Notify,
    pub cancelled: Notify,
    /// Lets a call that waits for it go on.
    pub go: Notify,
}

/// A tool as a server writes it.
pub fn tool(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "title": "A tool",
        "description": description,
        "inputSchema": {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"text": {"type": "string", "description": "What to say."}},
            "required": ["text"],
        },
        "annotations": {"readOnlyHint": true, "idempotentHint": true},
    })
}

impl Upstream {
    /// One that serves these tools.
    pub async fn start(tools: &[Value]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::serve(listener, tools)
    }

    pub fn serve(listener: TcpListener, tools: &[Value]) -> Self {
        let shared = Arc::new(Shared::default());
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let of_session = Arc::clone(&shared);
        let service = StreamableHttpService::new(
            move || Ok(Session(Arc::clone(&of_session))),
            Arc::new(LocalSessionManager::default()),
            StreamableHttpServerConfig::default(),
        );
        let router = Router::new().nest_service("/mcp", service);
        let router = router.layer(from_fn(
            async |request: axum::extract::Request, next: Next| {
                let presented = request.headers().get(header::AUTHORIZATION);
                match presented.is_some_and(|it| *it == format!("Bearer {TOKEN}")) {
                    true => Ok(next.run(request).await),
                    false => Err(StatusCode::UNAUTHORIZED),
                }
            },
        ));
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let upstream = Self {
            url,
            shared,
            serving,
        };
        upstream.offer(tools);
        upstream
    }

    /// Offers these from now on, and says nothing.
    pub fn offer(&self, tools: &[Value]) {
        let read = |tool: &Value| serde_json::from_value(tool.clone()).unwrap();
        *self.shared.tools.lock().unwrap() = tools.iter().map(read).collect();
    }

    /// Says that it offers something else.
    pub async fn tell(&self) {
        let peers = self.shared.peers.lock().unwrap().clone();
        for peer in peers {
            // Those that are gone hear nothing.
            let _ = peer.notify_tool_list_changed().await;
        }
    }

    /// The calls that came, since the last time.
    pub fn calls(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut *self.shared.calls.lock().unwrap())
    }

    /// What the kernel says that it can do for a server.
    pub fn lent(&self) -> ClientCapabilities {
        self.shared.capabilities.lock().unwrap().clone().unwrap()
    }

    /// Waits for a call to have come.
    pub async fn heard(&self) {
        tokio::time::timeout(PATIENCE, self.shared.came.notified())
            .await
            .expect("a call comes");
    }

    /// Waits until it was told that nobody waits for a call any more.
    pub async fn was_told_off(&self) {
        tokio::time::timeout(SOON, self.shared.cancelled.notified())
            .await
            .expect("the upstream is told");
    }

    /// Goes away at once, with its sessions.
    pub fn stop(&self) {
        self.serving.abort();
        self.shared.peers.lock().unwrap().clear();
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// One client's session.
struct Session(Arc<Shared>);

impl ServerHandler for Session {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("third-party", "1"))
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        std::borrow::Cow::Borrowed(&[ProtocolVersion::V_2025_06_18])
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let can = context
            .peer
            .peer_info()
            .map(|info| info.capabilities.clone());
        *self.0.capabilities.lock().unwrap() = can;
        self.0.peers.lock().unwrap().push(context.peer);
    }

    async fn on_cancelled(
        &self,
        _: CancelledNotificationParam,
        _: NotificationContext<RoleServer>,
    ) {
        self.0.cancelled.notify_one();
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // A page for each tool.
        let cursor = request.and_then(|request| request.cursor);
        let at: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
        let tools = self.0.tools.lock().unwrap().clone();
        let mut page =
            ListToolsResult::with_all_items(tools.get(at).cloned().into_iter().collect());
        page.next_cursor = (at + 1 < tools.len()).then(|| (at + 1).to_string());
        Ok(page)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let text = arguments["text"].as_str().unwrap_or_default().to_owned();
        let call = (request.name.to_string(), arguments);
        self.0.calls.lock().unwrap().push(call);
        self.0.came.notify_one();
        let said = |text: &str| CallToolResult::success(vec![ContentBlock::text(text)]);
        Ok(match text.as_str() {
            "fail" => CallToolResult::error(vec![ContentBlock::text("no such row 4711")]),
            "refuse" => return Err(ErrorData::invalid_params("not like this", None)),
            "break" => return Err(ErrorData::internal_error("it broke", None)),
            "hang" => std::future::pending().await,
            "structure" => {
                let mut result = said("{}");
                result.structured_content = Some(json!({"count": 3}));
                result
            }
            "misfit" => {
                let mut result = said("{}");
                result.structured_content = Some(json!({"count": "three"}));
                result
            }
            "progress" => {
                let token = context.meta.get_progress_token().expect("it wants to know");
                for step in 1..=2u8 {
                    let progress = ProgressNotificationParam::new(token.clone(), step.into());
                    let progress = progress.with_message("half\u{202e}way");
                    context.peer.notify_progress(progress).await.unwrap();
                }
                self.0.go.notified().await;
                said("done")
            }
            "ask" => {
                let form = ElicitRequestParams::FormElicitationParams {
                    meta: None,
                    message: "Your password?".to_owned(),
                    requested_schema: serde_json::from_value(json!({
                        "type": "object", "properties": {"password": {"type": "string"}},
                    }))
                    .unwrap(),
                };
                let model = CreateMessageRequestParams::new(
                    vec![SamplingMessage::user_text("Say it all.")],
                    100,
                );
                let form = context.peer.create_elicitation(form).await;
                let model = context.peer.create_message(model).await;
                let roots = context.peer.list_roots().await;
                let roots = roots.map_or(0, |roots| roots.roots.len());
                let got = form.is_ok_and(|form| form.content.is_some()) || model.is_ok();
                said(if got || roots > 0 {
                    "it got something"
                } else {
                    "nothing"
                })
            }
            text => said(&format!("heard {text}")),
        }
        .into())
    }
}
