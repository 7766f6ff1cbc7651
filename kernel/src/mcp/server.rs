//! What rmcp asks of a server, each for the task that the request at hand presents.

// Logs: revision 2026-07-28 has others, and clients of the revisions before still have these.
#![expect(deprecated)]

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actum::caller::Level;
use actum::grant::VerifiedGrant;
use actum::{ToolName, project};
use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode,
    ErrorData, Implementation, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use serde_json::Value;
use tracing::Instrument as _;

use super::sessions::OfTask;
use super::{line, listing, resources, sessions, told};
use crate::Kernel;
use crate::auth::LiveTask;
use crate::mediate::{Posted, mediate};
use crate::replay;

/// The revisions that have sessions.
pub(super) const WITH_SESSIONS: [ProtocolVersion; 2] =
    [ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25];

/// The one that has none.
pub(super) const SESSIONLESS: ProtocolVersion = ProtocolVersion::V_2026_07_28;

/// Where a call's `_meta` has its selection token, and its idempotency key.
const SELECTION_TOKEN: &str = "actum/selection_token";
const IDEMPOTENCY_KEY: &str = "actum/idempotency_key";

pub(super) type Context = RequestContext<RoleServer>;

/// A server for one session, or for one request.
#[derive(Debug, Clone)]
pub(super) struct Server {
    kernel: Arc<Kernel>,
    sessions: Option<Arc<OfTask>>,
    /// The least that the client wants to be told of logs.
    least: Arc<Mutex<Level>>,
}

impl Server {
    pub(super) fn new(kernel: Arc<Kernel>, sessions: Option<Arc<OfTask>>) -> Self {
        Self {
            kernel,
            sessions,
            least: Arc::new(Mutex::new(Level::Debug)),
        }
    }

    fn least(&self) -> MutexGuard<'_, Level> {
        self.least.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The task that was presented with this very request.
    fn task(context: &Context) -> Result<Arc<LiveTask>, ErrorData> {
        let parts = context.extensions.get::<Parts>();
        let task = parts.and_then(|parts| parts.extensions.get::<Arc<LiveTask>>());
        task.cloned()
            .ok_or_else(|| ErrorData::internal_error("no task was presented", None))
    }

    /// The selection token that a call presents; for a client that cannot, the one that its task has of the type that the
    /// tool takes.
    fn selection_token(
        &self,
        context: &Context,
        task: &LiveTask,
        name: &str,
    ) -> Result<Option<String>, ErrorData> {
        match context.meta.get(SELECTION_TOKEN) {
            Some(Value::String(presented)) => Ok(Some(presented.clone())),
            Some(_) => {
                let told = format!("`_meta.{SELECTION_TOKEN}` is a text");
                Err(ErrorData::invalid_params(told, None))
            }
            None => {
                let id = ToolName::to_id(name);
                let wanted = id.as_ref().and_then(|id| {
                    let catalog = &self.kernel.catalog;
                    catalog.selection_token_type_for(id.as_str())
                });
                Ok(wanted.and_then(|wanted| only_token(&task.grant, wanted)))
            }
        }
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: &Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let task = Self::task(context)?;
        let key = match context.meta.get(IDEMPOTENCY_KEY) {
            None => None,
            Some(Value::String(key)) if replay::is_key(key) => Some(key.clone()),
            Some(_) => {
                let told = format!(
                    "`_meta.{IDEMPOTENCY_KEY}` is 1 to {} visible ASCII characters",
                    replay::MAX_KEY
                );
                return Err(ErrorData::invalid_params(told, None));
            }
        };
        let (caller, mut wishes) = line::open(context);
        let posted = Posted {
            selection_token: self.selection_token(context, &task, &request.name)?,
            action: request.name.to_string(),
            arguments: request.arguments.unwrap_or_default(),
            idempotency_key: key,
            caller,
        };
        let kernel = Arc::clone(&self.kernel);
        let of = Arc::clone(&task);
        let mediated = async move {
            let Ok(_place) = kernel.places.try_acquire() else {
                return Err(ErrorData::internal_error(
                    "too many requests are under way; try again",
                    None,
                ));
            };
            let answer = mediate(&kernel, &of, posted).await;
            answer.map_err(|error| {
                tracing::error!(%error, "the store failed");
                let told =
                    "the kernel cannot record anything now, so it does nothing; try again later";
                ErrorData::internal_error(told, None)
            })
        };
        // A task of its own: it goes on to its end whatever becomes of the client, and a panic in it is answered.
        let mut mediated = self.kernel.running.spawn(mediated.in_current_span());
        let least = *self.least();
        let answer = loop {
            tokio::select! {
                biased;
                Some(wish) = wishes.recv() => tokio::select! {
                    () = line::grant(wish, context, least) => {}
                    ended = &mut mediated => break ended,
                },
                ended = &mut mediated => break ended,
            }
        };
        // What was told last comes before the answer.
        while let Ok(wish @ line::Wish::Tell(_)) = wishes.try_recv() {
            line::grant(wish, context, least).await;
        }
        let answer = answer.map_err(|error| {
            tracing::error!(%error, "a call ended without an answer");
            ErrorData::internal_error("the kernel could not answer; what it did is recorded", None)
        })??;
        let catalog = self.kernel.at_hand();
        let view = project(&task.grant, &catalog);
        told::result(answer, &request.name, &view).map(Into::into)
    }
}

/// The one selection token of a type that a grant has, if it has one alone.
fn only_token(grant: &VerifiedGrant, wanted: &str) -> Option<String> {
    let mut of_type = grant
        .selection_tokens()
        .iter()
        .filter(|(_, token_type)| token_type.as_str() == wanted);
    match (of_type.next(), of_type.next()) {
        (Some((id, _)), None) => Some(id.to_string()),
        _ => None,
    }
}

/// Whether a request is of the revision without sessions.
pub(super) fn is_sessionless(context: &Context) -> bool {
    context.protocol_version() == Some(SESSIONLESS)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_resources()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("actum", env!("CARGO_PKG_VERSION")))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        const ALL: [ProtocolVersion; 3] = [
            ProtocolVersion::V_2025_06_18,
            ProtocolVersion::V_2025_11_25,
            SESSIONLESS,
        ];
        Cow::Borrowed(&ALL)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if let Some(sessions) = &self.sessions {
            sessions.tell(context.peer);
        }
    }

    async fn set_level(&self, request: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        *self.least() = line::of_client(request.level);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // rmcp takes away what is not offered.
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let task = Self::task(context.request_context())?;
        sessions::listen(&self.kernel, &task, &context).await;
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let task = Self::task(&context)?;
        let cursor = request.and_then(|request| request.cursor);
        let page = listing::page(&self.kernel, &task, cursor.as_deref())
            .map_err(|_| ErrorData::invalid_params("unknown cursor", None))?;
        let tools = serde_json::from_str(&page.tools).map_err(|error| {
            tracing::error!(%error, "a tool has another shape than the protocol's");
            ErrorData::internal_error("the tools could not be told", None)
        })?;
        let mut result = ListToolsResult::with_all_items(tools);
        result.next_cursor = page.next;
        if is_sessionless(&context) {
            result = result
                .with_ttl_ms(listing::fresh_for(&self.kernel, &task))
                .with_cache_scope(CacheScope::Private);
        }
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let answered = self.call(request, &context);
        match &self.sessions {
            Some(sessions) => sessions.under_way.track_future(answered).await,
            None => answered.await,
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(Vec::new()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = vec![resources::calls()];
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let task = Self::task(&context)?;
        resources::read(&self.kernel, &task, &request.uri).await
    }

    /// Whatever rmcp could not read as a request that it knows.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        const OF_SESSIONS: [&str; 2] = ["initialize", "logging/setLevel"];
        const KNOWN: [&str; 4] = [
            "resources/read",
            "server/discover",
            "tools/call",
            "tools/list",
        ];
        let method = request.method.as_str();
        let is_known =
            KNOWN.contains(&method) || (!is_sessionless(&context) && OF_SESSIONS.contains(&method));
        Err(match is_known {
            true => ErrorData::invalid_params("the parameters are not those of this method", None),
            false => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "Method not found", None),
        })
    }
}
