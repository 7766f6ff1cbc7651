//! The connection to an upstream, what it offers there, and calls of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actum::action::HandlerContext;
use actum::lock::LockedAction;
use actum::{ActionError, ActionId, Confidential};
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest,
    Implementation, ListToolsRequest, PaginatedRequestParams, ProgressNotificationParam,
    ProgressToken, RequestId, ServerResult, Tool,
};
use rmcp::service::{
    NotificationContext, Peer, PeerRequestOptions, RoleClient, RunningServiceCancellationToken,
    ServiceError,
};
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use super::connect::connect;
use super::offer::{Offer, entry_of};
use super::terms::Terms;
use super::{Upstream, out_of_reach, told};
use crate::printable;

/// The most tools of one upstream that are looked at, and the most pages of them.
const MAX_TOOLS: usize = 2_000;
const MAX_PAGES: usize = 100;
/// The longest that listing them may take.
const LIST: Duration = Duration::from_secs(20);
/// The longest that a program may take to end: it is asked to, told to, and killed.
pub(crate) const END: Duration = Duration::from_secs(8);
/// The most notices of progress that wait; further ones are lost.
const WAITING: usize = 16;
/// The longest message of progress that is passed on, in characters.
const MAX_MESSAGE: usize = 200;

/// A connection.
pub(super) struct Live {
    line: Line,
    ends: Option<RunningServiceCancellationToken>,
    /// Is through once the connection has ended, and its program with it.
    ended: JoinHandle<()>,
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Live")
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.end();
    }
}

/// What a call goes out by.
#[derive(Clone)]
struct Line {
    peer: Peer<RoleClient>,
    /// Whether there may be something else at its end than what was last looked at.
    is_stale: Arc<AtomicBool>,
    progress: Progress,
}

impl Line {
    fn is_open(&self) -> bool {
        !self.peer.is_transport_closed()
    }
}

/// Who waits for word of which call.
#[derive(Debug, Clone, Default)]
struct Progress(Arc<Mutex<HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>>>);

impl Progress {
    fn all(
        &self,
    ) -> MutexGuard<'_, HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The kernel as a client. It lends nothing: no model, no person to ask, no folder.
struct Client {
    is_stale: Arc<AtomicBool>,
    bell: Arc<Notify>,
    progress: Progress,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let of_kernel = Implementation::new("actum", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), of_kernel)
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let waiting = self.progress.all().get(&progress.progress_token).cloned();
        if let Some(waiting) = waiting {
            // A worker that does not read must not hold the upstream up.
            let _ = waiting.try_send(progress);
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.is_stale.store(true, Ordering::SeqCst);
        self.bell.notify_one();
    }
}

/// How a tool of an upstream stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Standing {
    /// It is offered as it was accepted.
    AsAccepted(LockedAction),
    /// It is on the operator's terms, and nobody accepted it as it is now.
    Unaccepted(LockedAction),
    /// The operator's terms name it, and it is not offered.
    NotOffered(ActionId),
    /// It is offered in a way that no action can be made of.
    Unusable(ActionId, String),
    /// It is offered, and the terms do not name it.
    NotTaken,
}

impl Standing {
    /// The entry in the surface lock that it has, or would have.
    pub(crate) fn entry(self) -> Option<LockedAction> {
        match self {
            Self::AsAccepted(entry) | Self::Unaccepted(entry) => Some(entry),
            Self::NotOffered(_) | Self::Unusable(..) | Self::NotTaken => None,
        }
    }
}

impl Upstream {
    /// Connects if need be, and looks at what is offered now.
    ///
    /// # Errors
    /// What went wrong, for the operator. What was at hand before stays so.
    pub(crate) async fn look(&self) -> Result<BTreeMap<String, Standing>, String> {
        let mut live = self.live.lock().await;
        if let Some(open) = live.as_ref().filter(|live| live.line.is_open())
            && let Ok(seen) = self.seen(&open.line).await
        {
            return Ok(seen);
        }
        // A connection that tells nothing any more may lead nowhere.
        *live = None;
        let (new, seen) = self.begin().await?;
        *live = Some(new);
        Ok(seen)
    }

    /// Ends the connection, and the program with it.
    pub(crate) async fn close(&self) {
        let Some(mut live) = self.live.lock().await.take() else {
            return;
        };
        live.end();
        let _ = tokio::time::timeout(END, &mut live.ended).await;
    }

    /// Runs one call that was admitted.
    ///
    /// # Errors
    /// That it was not begun, failed, or may have taken effect: [`ActionError`] says which.
    pub(super) async fn call(
        self: Arc<Self>,
        context: HandlerContext,
        arguments: Value,
    ) -> Result<Confidential, ActionError> {
        let id = &context.call.action;
        let unavailable = |why: String| ActionError::unavailable(format!("`{id}`: {why}"));
        let line = self.ready().await.map_err(unavailable)?;
        let found = self.terms.iter().find(|terms| terms.id == *id);
        let found = found.filter(|_| self.at_hand.borrow().contains(id));
        let Some((terms, accepted)) =
            found.and_then(|terms| Some((terms, self.accepted.get(&terms.tool)?)))
        else {
            return Err(unavailable(
                "it is not offered as it was accepted".to_owned(),
            ));
        };
        let Value::Object(arguments) = arguments else {
            return Err(ActionError::failed("its arguments are no object"));
        };
        let params = CallToolRequestParams::new(terms.tool.clone()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options();
        let sent = line.peer.send_request_with_option(request, options).await;
        let sent = sent.map_err(|error| unavailable(error.to_string()))?;
        let mut asked = Asked {
            line,
            token: sent.progress_token.clone(),
            request: Some(sent.id.clone()),
        };
        let (notify, mut notices) = mpsc::channel(WAITING);
        let waiting = &asked.line.progress;
        waiting.all().insert(asked.token.clone(), notify);
        let answer = sent.await_response();
        tokio::pin!(answer);
        let answer = loop {
            tokio::select! {
                answer = &mut answer => break answer,
                Some(notice) = notices.recv() => {
                    let message = printable::line(&notice.message.unwrap_or_default(), MAX_MESSAGE);
                    context.caller.progress(notice.progress, notice.total, &message).await;
                }
                () = context.caller.cancelled() => {
                    return Err(ActionError::outcome_unknown("the worker wanted it no more"));
                }
            }
        };
        asked.request = None;
        if matches!(&answer, Err(error) if !matches!(error, ServiceError::McpError(_))) {
            // Whatever is there now may be another server: it is looked at before the next call.
            asked.line.is_stale.store(true, Ordering::SeqCst);
            self.bell.notify_one();
        }
        told::result(answer, accepted.result.as_ref())
    }

    /// A connection to call by, after a look if there may be something new to see.
    async fn ready(&self) -> Result<Line, String> {
        let mut live = self.live.lock().await;
        if let Some(open) = live.as_ref().filter(|live| live.line.is_open()) {
            if open.line.is_stale.load(Ordering::SeqCst) {
                self.seen(&open.line).await?;
                self.bell.notify_one();
            }
            return Ok(open.line.clone());
        }
        *live = None;
        let (new, _) = self.begin().await?;
        self.bell.notify_one();
        let line = new.line.clone();
        *live = Some(new);
        Ok(line)
    }

    async fn begin(&self) -> Result<(Live, BTreeMap<String, Standing>), String> {
        let (is_stale, progress) = (Arc::new(AtomicBool::new(false)), Progress::default());
        let client = Client {
            is_stale: Arc::clone(&is_stale),
            bell: Arc::clone(&self.bell),
            progress: progress.clone(),
        };
        let running = connect(self.id(), &self.server.reached, client).await?;
        let bell = Arc::clone(&self.bell);
        let line = Line {
            peer: running.peer().clone(),
            is_stale,
            progress,
        };
        let live = Live {
            line,
            ends: Some(running.cancellation_token()),
            ended: tokio::spawn(async move {
                let _ = running.waiting().await;
                bell.notify_one();
            }),
        };
        let seen = self.seen(&live.line).await?;
        Ok((live, seen))
    }

    /// What is offered by a connection. What is at hand follows from it.
    async fn seen(&self, line: &Line) -> Result<BTreeMap<String, Standing>, String> {
        // Before it is looked at: what changes meanwhile is looked at once more.
        line.is_stale.store(false, Ordering::SeqCst);
        let listed = tokio::time::timeout(LIST, list(&line.peer)).await;
        let listed = listed.unwrap_or_else(|_| Err("it did not list its tools in time".to_owned()));
        let tools = listed.inspect_err(|_| line.is_stale.store(true, Ordering::SeqCst))?;
        let mut seen: BTreeMap<String, Standing> = self
            .terms
            .iter()
            .map(|terms| (terms.tool.clone(), Standing::NotOffered(terms.id.clone())))
            .collect();
        for tool in &tools {
            let terms = self.terms.iter().find(|terms| terms.tool == tool.name);
            let named = tools.iter().filter(|other| other.name == tool.name);
            let standing = match terms {
                None => Standing::NotTaken,
                Some(terms) if named.count() > 1 => {
                    let problem = "its upstream lists the name more than once".to_owned();
                    Standing::Unusable(terms.id.clone(), problem)
                }
                Some(terms) => self.standing(terms, tool),
            };
            seen.insert(tool.name.to_string(), standing);
        }
        let at_hand: BTreeSet<ActionId> = seen
            .values()
            .filter_map(|standing| match standing {
                Standing::AsAccepted(entry) => Some(entry.id.clone()),
                _ => None,
            })
            .collect();
        self.at_hand.send_replace(at_hand);
        Ok(seen)
    }

    fn standing(&self, terms: &Terms, tool: &Tool) -> Standing {
        let offered =
            Offer::of_tool(tool).and_then(|offer| entry_of(terms.action(offer, out_of_reach())));
        match offered {
            Err(problem) => Standing::Unusable(terms.id.clone(), problem),
            Ok(entry) => {
                let accepted = self.accepted.get(&terms.tool);
                match accepted.is_some_and(|accepted| accepted.digest == entry.digest) {
                    true => Standing::AsAccepted(entry),
                    false => Standing::Unaccepted(entry),
                }
            }
        }
    }
}

impl Live {
    fn end(&mut self) {
        if let Some(end) = self.ends.take() {
            end.cancel();
        }
    }
}

/// A request that waits for its answer: whoever drops it has the upstream told that nobody waits any more.
struct Asked {
    line: Line,
    token: ProgressToken,
    request: Option<RequestId>,
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.line.progress.all().remove(&self.token);
        let Some(request) = self.request.take() else {
            return;
        };
        let peer = self.line.peer.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = peer.notify_cancelled(told::cancelled(request)).await;
            });
        }
    }
}

/// Every page of the list. Not rmcp's own, which may answer with a list of before.
async fn list(peer: &Peer<RoleClient>) -> Result<Vec<Tool>, String> {
    let mut tools = Vec::new();
    let mut params = PaginatedRequestParams::default();
    for _ in 0..MAX_PAGES {
        let request = ListToolsRequest {
            method: Default::default(),
            params: Some(params.clone()),
            extensions: Default::default(),
        };
        let answer = peer
            .send_request(ClientRequest::ListToolsRequest(request))
            .await;
        let page = match answer.map_err(|error: ServiceError| error.to_string())? {
            ServerResult::ListToolsResult(page) => page,
            _ => return Err("it was asked for its tools and answered otherwise".to_owned()),
        };
        tools.extend(page.tools);
        if tools.len() > MAX_TOOLS {
            return Err(format!("it has more than {MAX_TOOLS} tools"));
        }
        match page.next_cursor {
            None => return Ok(tools),
            cursor => params.cursor = cursor,
        }
    }
    Err(format!("its tools take more than {MAX_PAGES} pages"))
}
