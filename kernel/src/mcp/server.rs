//! What rmcp asks of a server, each for the task that the request at hand presents.

// Logs: revision 2026-07-28 has others, and clients of the revisions before still have these.
#![expect(deprecated)]

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actum::caller::Level;
use actum::{ToolName, project};
use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    ArgumentInfo, CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams,
    CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, ErrorCode, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, GetTaskParams, GetTaskResult,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Reference, ServerCapabilities, ServerConfig,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
    UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};

use super::post::{Outcome, Wanted, post};
use super::resources::{call_at, call_of};
use super::sessions::OfTask;
use super::watch::Watched;
use super::{line, listing, prompts, resources, sessions, tasks, told};
use crate::Kernel;
use crate::auth::LiveTask;
use crate::mediate::Answer;

/// The revisions that have sessions.
pub(super) const WITH_SESSIONS: [ProtocolVersion; 2] =
    [ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25];

/// The one that has none.
pub(super) const SESSIONLESS: ProtocolVersion = ProtocolVersion::V_2026_07_28;

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

    /// Has a stop wait for an answer that is on its way.
    async fn counted<T>(&self, answered: impl Future<Output = T>) -> T {
        match &self.sessions {
            Some(sessions) => sessions.under_way.track_future(answered).await,
            None => answered.await,
        }
    }

    /// Posts a call by the one path of all calls.
    async fn post(
        &self,
        task: &Arc<LiveTask>,
        wanted: Wanted,
        context: &Context,
    ) -> Result<Outcome, ErrorData> {
        let least = *self.least();
        post(&self.kernel, task, wanted, context, least).await
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: &Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let task = Self::task(context)?;
        let name = request.name.into_owned();
        let wanted = Wanted {
            name: name.clone(),
            arguments: request.arguments.unwrap_or_default(),
            state: request.request_state,
            responses: request.input_responses,
        };
        let answer = match self.post(&task, wanted, context).await? {
            Outcome::Asks(question) => return Ok(question.into()),
            Outcome::Answered(Answer::ApprovalRequired { request_id })
                if tasks::are_known(context) =>
            {
                let id = request_id.to_string();
                return Ok(tasks::begun(&self.kernel, &task, &id).await?.into());
            }
            Outcome::Answered(answer) => answer,
        };
        let catalog = self.kernel.at_hand();
        let view = project(&task.grant, &catalog);
        told::result(answer, &name, &view).map(Into::into)
    }

    /// Reads at an address.
    async fn read(
        &self,
        request: ReadResourceRequestParams,
        context: &Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let task = Self::task(context)?;
        let uri = &request.uri;
        if let Some(told) = call_of(&self.kernel, &task, uri).await? {
            let told = resources::call_told(&told, uri);
            return Ok(ReadResourceResult::new(vec![told]).into());
        }
        let catalog = self.kernel.at_hand();
        let Some((name, arguments)) = call_at(uri, &task.grant, &catalog) else {
            return Err(resources::unknown());
        };
        let wanted = Wanted {
            name: name.clone(),
            arguments,
            state: request.request_state,
            responses: request.input_responses,
        };
        let answer = match self.post(&task, wanted, context).await? {
            Outcome::Asks(question) => return Ok(question.into()),
            Outcome::Answered(answer) => answer,
        };
        let value =
            told::value(answer, &name).map_err(|told| told.unwrap_or_else(resources::unknown))?;
        let output = ToolName::to_id(&name).and_then(|id| {
            let tool = catalog.tool_descriptor_for(id.as_str())?;
            tool.output_schema.clone()
        });
        let contents = resources::contents(value, output.as_ref(), uri);
        Ok(ReadResourceResult::new(contents).into())
    }

    /// Gets a prompt.
    async fn prompt(
        &self,
        request: GetPromptRequestParams,
        context: &Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let task = Self::task(context)?;
        let name = request.name;
        let catalog = self.kernel.at_hand();
        let view = project(&task.grant, &catalog);
        let found = prompts::all(&view, &catalog).find(|tool| tool.descriptor().name == name);
        let Some(descriptor) = found.map(|tool| tool.descriptor().clone()) else {
            return Err(prompts::unknown(&name));
        };
        let wanted = Wanted {
            name: name.clone(),
            arguments: request.arguments.unwrap_or_default(),
            state: request.request_state,
            responses: request.input_responses,
        };
        let answer = match self.post(&task, wanted, context).await? {
            Outcome::Asks(question) => return Ok(question.into()),
            Outcome::Answered(answer) => answer,
        };
        let value = told::value(answer, &name)
            .map_err(|told| told.unwrap_or_else(|| prompts::unknown(&name)))?;
        let messages = prompts::messages(value, descriptor.output_schema.as_ref());
        let result = GetPromptResult::new(messages).with_description(descriptor.description);
        Ok(result.into())
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
            .enable_tasks()
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
        let tools = serde_json::from_slice(&page.text).map_err(|error| {
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
        let answered = self.read(request, &context);
        self.counted(answered).await
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
        self.counted(answered).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        self.completed(&request, &context)
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: Context,
    ) -> Result<GetTaskResult, ErrorData> {
        let task = Self::task(&context)?;
        let told = tasks::get(&self.kernel, &task, &request.task_id).await?;
        Ok(GetTaskResult::new(told))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        let task = Self::task(&context)?;
        // A call that waits asks its client nothing, so that whatever is told is of no question.
        let found = tasks::found(&self.kernel, &task, &request.task_id);
        found.await.map(drop)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        let task = Self::task(&context)?;
        tasks::cancel(&self.kernel, &task, &request.task_id).await
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
        const KNOWN: [&str; 9] = [
            "completion/complete",
            "prompts/get",
            "resources/read",
            "server/discover",
            "tasks/cancel",
            "tasks/get",
            "tasks/update",
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
