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
    ArgumentInfo, CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, ErrorCode, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Reference, ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use serde_json::{Map, Value};
use tracing::Instrument as _;

use super::resources::{call_at, call_of};
use super::sessions::OfTask;
use super::watch::Watched;
use super::{line, listing, prompts, resources, sessions, told};
use crate::Kernel;
use crate::auth::LiveTask;
use crate::mediate::{Answer, Posted, mediate};
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
    /// What the client of a session watches.
    watched: Arc<tokio::sync::Mutex<Watched>>,
}

impl Server {
    pub(super) fn new(kernel: Arc<Kernel>, sessions: Option<Arc<OfTask>>) -> Self {
        Self {
            kernel,
            sessions,
            least: Arc::new(Mutex::new(Level::Debug)),
            watched: Arc::default(),
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

    /// Has a stop wait for an answer that is on its way.
    async fn counted<T>(&self, answered: impl Future<Output = T>) -> T {
        match &self.sessions {
            Some(sessions) => sessions.under_way.track_future(answered).await,
            None => answered.await,
        }
    }

    /// Posts a call by the one path of all calls, and does what its handler wishes of the client meanwhile.
    async fn post(
        &self,
        task: &Arc<LiveTask>,
        name: &str,
        arguments: Map<String, Value>,
        context: &Context,
    ) -> Result<Answer, ErrorData> {
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
            selection_token: self.selection_token(context, task, name)?,
            action: name.to_owned(),
            arguments,
            idempotency_key: key,
            caller,
        };
        let kernel = Arc::clone(&self.kernel);
        let of = Arc::clone(task);
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
        answer.map_err(|error| {
            tracing::error!(%error, "a call ended without an answer");
            ErrorData::internal_error("the kernel could not answer; what it did is recorded", None)
        })?
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: &Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let task = Self::task(context)?;
        let arguments = request.arguments.unwrap_or_default();
        let answer = self.post(&task, &request.name, arguments, context).await?;
        let catalog = self.kernel.at_hand();
        let view = project(&task.grant, &catalog);
        told::result(answer, &request.name, &view).map(Into::into)
    }

    /// Reads at an address.
    async fn read(&self, uri: &str, context: &Context) -> Result<ReadResourceResult, ErrorData> {
        let task = Self::task(context)?;
        if let Some(told) = call_of(&self.kernel, &task, uri).await? {
            return Ok(ReadResourceResult::new(vec![resources::call_told(
                &told, uri,
            )]));
        }
        let catalog = self.kernel.at_hand();
        let Some((name, arguments)) = call_at(uri, &task.grant, &catalog) else {
            return Err(resources::unknown());
        };
        let answer = self.post(&task, &name, arguments, context).await?;
        let value =
            told::value(answer, &name).map_err(|told| told.unwrap_or_else(resources::unknown))?;
        let output = ToolName::to_id(&name).and_then(|id| {
            let tool = catalog.tool_descriptor_for(id.as_str())?;
            tool.output_schema.clone()
        });
        let contents = resources::contents(value, output.as_ref(), uri);
        Ok(ReadResourceResult::new(contents))
    }

    /// Gets a prompt.
    async fn prompt(
        &self,
        request: GetPromptRequestParams,
        context: &Context,
    ) -> Result<GetPromptResult, ErrorData> {
        let task = Self::task(context)?;
        let name = request.name;
        let catalog = self.kernel.at_hand();
        let view = project(&task.grant, &catalog);
        let found = prompts::all(&view, &catalog).find(|tool| tool.descriptor().name == name);
        let Some(descriptor) = found.map(|tool| tool.descriptor().clone()) else {
            return Err(prompts::unknown(&name));
        };
        let arguments = request.arguments.unwrap_or_default();
        let answer = self.post(&task, &name, arguments, context).await?;
        let value = told::value(answer, &name)
            .map_err(|told| told.unwrap_or_else(|| prompts::unknown(&name)))?;
        let messages = prompts::messages(value, descriptor.output_schema.as_ref());
        Ok(GetPromptResult::new(messages).with_description(descriptor.description))
    }

    /// What an argument of a prompt or an address may go on with.
    fn completed(
        &self,
        request: &CompleteRequestParams,
        context: &Context,
    ) -> Result<CompleteResult, ErrorData> {
        let task = Self::task(context)?;
        let catalog = self.kernel.at_hand();
        let view = project(&task.grant, &catalog);
        let (found, unknown) = match &request.r#ref {
            Reference::Prompt(prompt) => {
                let mut all = prompts::all(&view, &catalog);
                let found = all.find(|tool| tool.descriptor().name == prompt.name);
                (found, prompts::unknown(&prompt.name))
            }
            Reference::Resource(address) => {
                let mut all = resources::addresses(&view, &catalog);
                let found = all.find(|(_, template)| template.as_str() == address.uri);
                (found.map(|(tool, _)| tool), resources::unknown())
            }
            // A kind of reference that is none of the protocol's.
            _ => (None, resources::unknown()),
        };
        let ArgumentInfo { name, value, .. } = &request.argument;
        let info = prompts::completions(found.ok_or(unknown)?, name, value);
        Ok(CompleteResult::new(info))
    }

    /// What a list is told with in the revision without sessions: how long it holds, and for whom.
    fn fresh_for(&self, context: &Context) -> Result<Option<u64>, ErrorData> {
        let task = Self::task(context)?;
        let is_told = is_sessionless(context);
        Ok(is_told.then(|| listing::fresh_for(&self.kernel, &task)))
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
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
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
            sessions.tell(context.peer, Arc::clone(&self.watched));
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
        sessions::listen(&self.kernel, &task, &context).await
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
        self.counted(answered).await
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let task = Self::task(&context)?;
        let catalog = self.kernel.at_hand();
        let all = resources::listed(&project(&task.grant, &catalog), &catalog);
        let all = ListResourcesResult::with_all_items(all);
        Ok(match self.fresh_for(&context)? {
            Some(time) => all.with_ttl_ms(time).with_cache_scope(CacheScope::Private),
            None => all,
        })
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let task = Self::task(&context)?;
        let catalog = self.kernel.at_hand();
        let all = resources::templates(&project(&task.grant, &catalog), &catalog);
        let all = ListResourceTemplatesResult::with_all_items(all);
        Ok(match self.fresh_for(&context)? {
            Some(time) => all.with_ttl_ms(time).with_cache_scope(CacheScope::Private),
            None => all,
        })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let answered = self.read(&request.uri, &context);
        self.counted(answered).await.map(Into::into)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        let task = Self::task(&context)?;
        let mut watched = self.watched.lock().await;
        watched.add(&self.kernel, &task, &request.uri).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: Context,
    ) -> Result<(), ErrorData> {
        self.watched.lock().await.remove(&request.uri);
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let task = Self::task(&context)?;
        let catalog = self.kernel.at_hand();
        let view = project(&task.grant, &catalog);
        let all = prompts::all(&view, &catalog).map(prompts::listed).collect();
        let all = ListPromptsResult::with_all_items(all);
        Ok(match self.fresh_for(&context)? {
            Some(time) => all.with_ttl_ms(time).with_cache_scope(CacheScope::Private),
            None => all,
        })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let answered = self.prompt(request, &context);
        self.counted(answered).await.map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        self.completed(&request, &context)
    }

    /// Whatever rmcp could not read as a request that it knows.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        const OF_SESSIONS: [&str; 4] = [
            "initialize",
            "logging/setLevel",
            "resources/subscribe",
            "resources/unsubscribe",
        ];
        const KNOWN: [&str; 6] = [
            "completion/complete",
            "prompts/get",
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
