//! The sessions of MCP's older revisions. INVARIANT: each belongs to one task, is found by requests that present that task's
//! token alone, and ends with it.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actum::{Digest, project};
use rmcp::RoleServer;
use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager as _};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use ulid::Ulid;

use super::watch::Watched;
use crate::Kernel;
use crate::auth::LiveTask;

/// How often it is looked whether a task that has sessions is over, and whether its tools are others. Nothing is heard
/// on an open stream for longer than this after the task was taken back.
const LOOK: Duration = Duration::from_secs(2);
/// The most sessions of one task; a further one ends the oldest, since many clients end none.
const MOST_SESSIONS: usize = 32;
/// How long the last answers of a stopping kernel have to reach their streams.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The sessions of all tasks that have any.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<HashMap<Ulid, Arc<OfTask>>>);

/// Those of one task.
#[derive(Debug)]
pub(crate) struct OfTask {
    manager: Arc<LocalSessionManager>,
    /// Cancelled, all of its streams and sessions end.
    ending: CancellationToken,
    /// The sessions in the order that they began in, those that have ended among them.
    begun: Mutex<VecDeque<SessionId>>,
    /// Those who want to be told when the tools are others, and what they watch besides.
    peers: Mutex<Vec<Listener>>,
    /// Calls whose answer is still to come.
    pub(super) under_way: TaskTracker,
}

/// A client, and what it watches.
type Listener = (Peer<RoleServer>, Arc<tokio::sync::Mutex<Watched>>);

impl Sessions {
    /// Those of a task, begun where there are none; `None` where too many tasks have some.
    pub(super) fn of(&self, kernel: &Arc<Kernel>, task: &LiveTask) -> Option<Arc<OfTask>> {
        let most = kernel.limits.connections.value;
        let mut all = self.locked();
        let is_full = all.len() >= most;
        match all.entry(task.id) {
            Entry::Occupied(found) => Some(Arc::clone(found.get())),
            Entry::Vacant(_) if is_full || kernel.stopping.is_cancelled() => None,
            Entry::Vacant(free) => {
                let new = Arc::new(OfTask::default());
                free.insert(Arc::clone(&new));
                let shown = tools_of(kernel, task);
                let looking = Arc::clone(&new).look_after(Arc::clone(kernel), task.id, shown);
                tokio::spawn(looking);
                Some(new)
            }
        }
    }

    /// Those of a task, if it has any.
    pub(super) fn existing(&self, task: Ulid) -> Option<Arc<OfTask>> {
        self.locked().get(&task).cloned()
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<Ulid, Arc<OfTask>>> {
        // A map is whole between any two of its own steps.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for OfTask {
    fn default() -> Self {
        Self {
            manager: Arc::default(),
            ending: CancellationToken::new(),
            begun: Mutex::default(),
            peers: Mutex::default(),
            under_way: TaskTracker::new(),
        }
    }
}

impl OfTask {
    pub(super) fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    pub(super) fn ending(&self) -> CancellationToken {
        self.ending.child_token()
    }

    /// Whether there is such a session.
    pub(super) async fn has(&self, session: &str) -> bool {
        self.manager.sessions.read().await.contains_key(session)
    }

    /// Notes that a session has begun; the oldest ends where there are too many.
    pub(super) async fn has_begun(&self, session: &str) {
        let oldest = {
            let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
            begun.push_back(session.into());
            match begun.len() > MOST_SESSIONS {
                true => begun.pop_front(),
                false => None,
            }
        };
        if let Some(oldest) = oldest {
            // One that has ended already is none to end.
            let _ = self.manager.close_session(&oldest).await;
        }
    }

    /// Tells somebody from now on when the tools are others, and what is read where it watches.
    pub(super) fn tell(&self, peer: Peer<RoleServer>, watched: Arc<tokio::sync::Mutex<Watched>>) {
        let mut peers = self.peers();
        peers.retain(|(peer, _)| !peer.is_transport_closed());
        peers.push((peer, watched));
    }

    fn peers(&self) -> MutexGuard<'_, Vec<Listener>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends them once their task is over, the kernel stops, or all of them have ended.
    async fn look_after(self: Arc<Self>, kernel: Arc<Kernel>, task: Ulid, mut shown: Digest) {
        let mut heard = kernel.announcements.hear();
        loop {
            tokio::select! {
                () = kernel.stopping.cancelled() => {
                    self.under_way.close();
                    self.under_way.wait().await;
                    tokio::time::sleep(LAST_WORDS).await;
                    break;
                }
                () = tokio::time::sleep(LOOK) => {}
            }
            match kernel.tasks.live(task, kernel.now()).await {
                Ok(Some(live)) => {
                    let announced = heard.since();
                    shown = self.told(&kernel, &live, shown, announced.as_ref()).await;
                }
                Ok(None) => break,
                // Whether it is over cannot be said now; calls cannot be made either.
                Err(error) => tracing::warn!(%error, "a task's sessions could not be looked after"),
            }
            if self.manager.sessions.read().await.is_empty() {
                break;
            }
        }
        let mut all = kernel.mcp.locked();
        all.remove(&task);
        self.ending.cancel();
    }

    /// Tells those who want to know that the tools are not those that were shown; what they are now.
    async fn told(
        &self,
        kernel: &Arc<Kernel>,
        live: &LiveTask,
        shown: Digest,
        announced: Option<&BTreeSet<Arc<str>>>,
    ) -> Digest {
        let now = tools_of(kernel, live);
        let peers = self.peers().clone();
        for (peer, watched) in peers {
            let changed = watched.lock().await.changed(kernel, live, announced).await;
            let telling = async {
                if shown != now {
                    let _ = peer.notify_tool_list_changed().await;
                    let _ = peer.notify_prompt_list_changed().await;
                    let _ = peer.notify_resource_list_changed().await;
                }
                for uri in changed {
                    let updated = ResourceUpdatedNotificationParam::new(uri);
                    let _ = peer.notify_resource_updated(updated).await;
                }
            };
            // One that does not listen must not keep the others from it.
            let _ = tokio::time::timeout(LOOK, telling).await;
        }
        now
    }
}

/// Tells whoever asked to be told, by the revision without sessions, when the tools of a task are others; until it is over,
/// the kernel stops, or nobody listens any more.
pub(super) async fn listen(
    kernel: &Arc<Kernel>,
    task: &LiveTask,
    context: &SubscriptionContext,
) -> Result<(), ErrorData> {
    let mut shown = tools_of(kernel, task);
    let mut heard = kernel.announcements.hear();
    let mut watched = Watched::default();
    for uri in context.accepted().resource_subscriptions.iter().flatten() {
        watched.add(kernel, task, uri).await?;
    }
    loop {
        tokio::select! {
            () = context.cancelled() => return Ok(()),
            () = kernel.stopping.cancelled() => return Ok(()),
            () = tokio::time::sleep(LOOK) => {}
        }
        let live = match kernel.tasks.live(task.id, kernel.now()).await {
            Ok(Some(live)) => live,
            Ok(None) => return Ok(()),
            Err(_) => continue,
        };
        let now = tools_of(kernel, &live);
        let (sink, wanted) = (context.sink(), context.accepted());
        let is_new = now != shown;
        let lists = [
            (wanted.tools_list_changed, List::Tools),
            (wanted.prompts_list_changed, List::Prompts),
            (wanted.resources_list_changed, List::Resources),
        ];
        for (_, list) in lists
            .into_iter()
            .filter(|(wanted, _)| is_new && *wanted == Some(true))
        {
            let told = match list {
                List::Tools => sink.notify_tool_list_changed().await,
                List::Prompts => sink.notify_prompt_list_changed().await,
                List::Resources => sink.notify_resource_list_changed().await,
            };
            if told.is_err() {
                return Ok(());
            }
        }
        let announced = heard.since();
        for uri in watched.changed(kernel, &live, announced.as_ref()).await {
            if sink.notify_resource_updated(uri).await.is_err() {
                return Ok(());
            }
        }
        shown = now;
    }
}

/// What may be listed.
enum List {
    Tools,
    Prompts,
    Resources,
}

/// What tells one set of tools from another.
fn tools_of(kernel: &Kernel, task: &LiveTask) -> Digest {
    project(&task.grant, &kernel.at_hand()).digest()
}
