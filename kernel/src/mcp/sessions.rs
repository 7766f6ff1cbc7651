//! The sessions of MCP's older revisions. INVARIANT: each belongs to one task, is found by requests that present that task's
//! token alone, and ends with it.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actum::{Digest, project};
use rmcp::RoleServer;
use rmcp::service::{Peer, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager as _};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use ulid::Ulid;

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
    /// Those who want to be told when the tools are others.
    peers: Mutex<Vec<Peer<RoleServer>>>,
    /// Calls whose answer is still to come.
    pub(super) under_way: TaskTracker,
}

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

    /// Tells somebody from now on when the tools are others.
    pub(super) fn tell(&self, peer: Peer<RoleServer>) {
        let mut peers = self.peers();
        peers.retain(|peer| !peer.is_transport_closed());
        peers.push(peer);
    }

    fn peers(&self) -> MutexGuard<'_, Vec<Peer<RoleServer>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends them once their task is over, the kernel stops, or all of them have ended.
    async fn look_after(self: Arc<Self>, kernel: Arc<Kernel>, task: Ulid, mut shown: Digest) {
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
                Ok(Some(live)) => shown = self.told(&kernel, &live, shown).await,
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
    async fn told(&self, kernel: &Kernel, live: &LiveTask, shown: Digest) -> Digest {
        let now = tools_of(kernel, live);
        if shown != now {
            let peers = self.peers().clone();
            for peer in peers {
                // One that does not listen must not keep the others from it.
                let told = tokio::time::timeout(LOOK, peer.notify_tool_list_changed());
                let _ = told.await;
            }
        }
        now
    }
}

/// Tells whoever asked to be told, by the revision without sessions, when the tools of a task are others; until it is over,
/// the kernel stops, or nobody listens any more.
pub(super) async fn listen(kernel: &Kernel, task: &LiveTask, context: &SubscriptionContext) {
    let mut shown = tools_of(kernel, task);
    loop {
        tokio::select! {
            () = context.cancelled() => return,
            () = kernel.stopping.cancelled() => return,
            () = tokio::time::sleep(LOOK) => {}
        }
        let now = match kernel.tasks.live(task.id, kernel.now()).await {
            Ok(Some(live)) => tools_of(kernel, &live),
            Ok(None) => return,
            Err(_) => continue,
        };
        if now != shown && context.sink().notify_tool_list_changed().await.is_err() {
            return;
        }
        shown = now;
    }
}

/// What tells one set of tools from another.
fn tools_of(kernel: &Kernel, task: &LiveTask) -> Digest {
    project(&task.grant, &kernel.at_hand()).digest()
}
