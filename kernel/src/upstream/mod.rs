//! Third parties' MCP servers behind the kernel: their tools are actions, on the operator's terms and as a person accepted
//! them.
//!
//! [`terms`] is the operator's manifest, [`offer`] what a server says of a tool, [`session`] the connection and the calls.
//! What was accepted stands in the surface lock, so that the actions are known without any server. INVARIANT: an action is
//! at hand only while its server was last seen to offer exactly what was accepted; until then, and from then on, it does
//! not exist for any worker.

mod connect;
mod keep;
mod offer;
mod session;
mod terms;
mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use actum::lock::LockedAction;
use actum::schema::CompiledSchema;
use actum::upstream::{UpstreamAction, UpstreamHandler};
use actum::{ActionError, ActionId, Digest};
use tokio::sync::{Mutex, Notify, watch};

use crate::config::UpstreamServer;
use crate::surface;
use offer::{Offer, entry_of, result_schema};
use session::Live;
pub(crate) use session::{END, Standing};
use terms::Terms;

/// One upstream.
#[derive(Debug)]
pub(crate) struct Upstream {
    server: UpstreamServer,
    terms: Vec<Terms>,
    /// What was accepted, by the upstream's own names of its tools.
    accepted: BTreeMap<String, Accepted>,
    live: Mutex<Option<Live>>,
    /// The actions that it was last seen to offer as they were accepted.
    at_hand: watch::Sender<BTreeSet<ActionId>>,
    /// Rings when there is something to look at.
    bell: Arc<Notify>,
}

/// A tool that a person accepted.
#[derive(Debug)]
struct Accepted {
    id: ActionId,
    /// Of its entry in the surface lock.
    digest: Digest,
    offer: Offer,
    /// What results have to fit; `None` where they are blocks.
    result: Option<CompiledSchema>,
}

/// All upstreams of a configuration.
#[derive(Debug, Default)]
pub(crate) struct Upstreams {
    all: Vec<Arc<Upstream>>,
    /// The turn to change what is at hand.
    turn: Mutex<()>,
}

impl Upstreams {
    /// Reads the manifests, and what of them the surface lock says was accepted. Connects to nothing.
    ///
    /// # Errors
    /// Every fault of the manifests.
    pub(crate) fn read(
        servers: &[UpstreamServer],
        lock: Option<&Path>,
    ) -> Result<Self, Vec<String>> {
        // A lock that is not there or not in order is told by whoever holds the linked actions against it.
        let lock = match servers {
            [] => None,
            _ => lock.and_then(|path| surface::read(path).ok()?),
        };
        let locked = lock.map_or_else(Vec::new, |lock| lock.split().1);
        let mut faults = Vec::new();
        let mut upstreams = Vec::new();
        for server in servers {
            match Terms::read(&server.manifest, &server.id) {
                Ok(terms) => {
                    upstreams.push(Arc::new(Upstream::new(server.clone(), terms, &locked)));
                }
                Err(problems) => {
                    faults.extend(problems.as_slice().iter().map(ToString::to_string));
                }
            }
        }
        match faults.is_empty() {
            true => Ok(Self {
                all: upstreams,
                turn: Mutex::default(),
            }),
            false => Err(faults),
        }
    }

    /// Each of them.
    pub(crate) fn each(&self) -> impl Iterator<Item = &Arc<Upstream>> {
        self.all.iter()
    }

    /// The actions that were accepted.
    pub(crate) fn actions(&self) -> impl Iterator<Item = UpstreamAction> {
        self.all.iter().flat_map(Upstream::actions)
    }

    /// The ids that the manifests name and nobody accepted: they exist, and nothing dispatches them.
    pub(crate) fn unaccepted(&self) -> impl Iterator<Item = ActionId> {
        let of = |upstream: &Arc<Upstream>| {
            let named = upstream.terms.iter();
            let named = named.filter(|terms| !upstream.accepted.contains_key(&terms.tool));
            named.map(|terms| terms.id.clone()).collect::<Vec<_>>()
        };
        self.all.iter().flat_map(of)
    }

    /// Every action that was accepted.
    pub(crate) fn accepted(&self) -> BTreeSet<ActionId> {
        let of = |upstream: &Arc<Upstream>| {
            let accepted = upstream.accepted.values();
            accepted
                .map(|accepted| accepted.id.clone())
                .collect::<Vec<_>>()
        };
        self.all.iter().flat_map(of).collect()
    }
}

impl Upstream {
    fn new(server: UpstreamServer, terms: Vec<Terms>, locked: &[LockedAction]) -> Self {
        let accepted = |terms: &Terms| {
            let entry = locked.iter().find(|entry| entry.id == terms.id)?;
            let offer = Offer::of_lock(entry);
            // By the terms of now: others have to be accepted anew.
            let now = entry_of(terms.action(offer.clone(), out_of_reach())).ok()?;
            let accepted = Accepted {
                id: terms.id.clone(),
                digest: entry.digest,
                result: result_schema(offer.output.as_ref()).ok()?,
                offer,
            };
            (now.digest == entry.digest).then(|| (terms.tool.clone(), accepted))
        };
        Self {
            accepted: terms.iter().filter_map(accepted).collect(),
            terms,
            server,
            live: Mutex::new(None),
            at_hand: watch::Sender::new(BTreeSet::new()),
            bell: Arc::new(Notify::new()),
        }
    }

    /// Its id.
    pub(crate) fn id(&self) -> &str {
        &self.server.id
    }

    fn actions(self: &Arc<Self>) -> Vec<UpstreamAction> {
        let action = |terms: &Terms| {
            let accepted = self.accepted.get(&terms.tool)?;
            let upstream = Arc::clone(self);
            let handler: UpstreamHandler = Arc::new(move |context, arguments| {
                let called = Arc::clone(&upstream).call(context, arguments);
                Box::pin(called)
            });
            Some(terms.action(accepted.offer.clone(), handler))
        };
        self.terms.iter().filter_map(action).collect()
    }
}

/// A handler for an action that is only looked at.
fn out_of_reach() -> UpstreamHandler {
    Arc::new(|_, _| {
        let told = ActionError::unavailable("it is looked at, and not connected");
        Box::pin(std::future::ready(Err(told)))
    })
}
