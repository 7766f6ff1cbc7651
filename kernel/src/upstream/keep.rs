//! Keeping an upstream connected, and what workers see of it in step with what it offers.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use actum::{ActionCatalog, ActionId};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Standing, Upstream};
use crate::Kernel;
use crate::ledger::{Entry, Kind};

/// How long the start waits for upstreams to be there. Whatever is not is looked for further.
const START: Duration = Duration::from_secs(10);
/// From one look to the next, if nothing is said in between.
const LOOK: Duration = Duration::from_secs(15);
/// The least and the most from an attempt to connect that failed to the next.
const LEAST: Duration = Duration::from_secs(1);
const MOST: Duration = Duration::from_secs(60);
/// The least from one look to the next, whatever an upstream says.
const PAUSE: Duration = Duration::from_millis(250);

impl Kernel {
    /// The catalog of what is at hand: without the tools of upstreams that do not offer them as they were accepted.
    pub(crate) fn at_hand(&self) -> Arc<ActionCatalog> {
        let at_hand = self.at_hand.read();
        // Nothing panics while it holds the lock, and a pointer is whole in any case.
        Arc::clone(&at_hand.unwrap_or_else(PoisonError::into_inner))
    }

    /// Begins to keep the upstreams, and waits a while for each to have been looked at once.
    pub(crate) async fn keep_upstreams(self: &Arc<Self>) {
        let mut first_looks = JoinSet::new();
        for upstream in self.upstreams.each() {
            tracing::info!(upstream = upstream.id(), "an upstream is connected to");
            let (seen, first_look) = oneshot::channel();
            let keeping = keep(
                Arc::downgrade(self),
                Arc::clone(upstream),
                self.stopping.clone(),
                seen,
            );
            self.keeping.spawn(keeping);
            first_looks.spawn(first_look);
        }
        if tokio::time::timeout(START, first_looks.join_all())
            .await
            .is_err()
        {
            tracing::warn!(
                "some upstreams are not there yet; their tools are absent until they are"
            );
        }
    }

    /// Shows what upstreams offer as it was accepted, and nothing else of them. What is taken away is so at once; what
    /// comes, once the ledger has it.
    async fn follow(&self, upstream: &Upstream, known: &mut Option<Value>, found: Value) {
        if known.as_ref() == Some(&found) {
            return;
        }
        // Two upstreams that change at once must not undo each other's change.
        let _turn = self.upstreams.turn.lock().await;
        let shown = self.at_hand();
        let is_shown = |id: &&ActionId| shown.is_known(id.as_str());
        let (mut left, mut come): (BTreeSet<ActionId>, BTreeSet<ActionId>) = Default::default();
        left.extend(self.upstreams.accepted().iter().filter(is_shown).cloned());
        {
            let at_hand = upstream.at_hand.borrow();
            for accepted in upstream.accepted.values() {
                match at_hand.contains(&accepted.id) {
                    true => drop(come.insert(accepted.id.clone())),
                    false => drop(left.remove(&accepted.id)),
                }
            }
        }
        self.show(&left);
        let mut body = json!({"upstream": upstream.id()});
        if let (Some(body), Value::Object(found)) = (body.as_object_mut(), found.clone()) {
            body.extend(found);
        }
        let entry = Entry {
            at: self.now(),
            kind: Kind::UpstreamSeen,
            body,
        };
        if let Err(error) = self.store.record(entry).await {
            tracing::error!(%error, "what an upstream offers could not be recorded, so that it stays absent");
            return;
        }
        *known = Some(found);
        left.extend(come);
        self.show(&left);
    }

    /// Has these tools of upstreams at hand, and no others.
    fn show(&self, ids: &BTreeSet<ActionId>) {
        let absent: BTreeSet<_> = self.upstreams.accepted();
        let absent: BTreeSet<_> = absent.difference(ids).cloned().collect();
        let is_so = |id: &ActionId| self.at_hand().is_known(id.as_str());
        if absent.iter().all(|id| !is_so(id)) && ids.iter().all(is_so) {
            return;
        }
        let catalog = self.catalog.without(&absent);
        let mut at_hand = self.at_hand.write().unwrap_or_else(PoisonError::into_inner);
        *at_hand = Arc::new(catalog);
        drop(at_hand);
        self.views.clear();
    }
}

/// Keeps one upstream, until the kernel stops.
async fn keep(
    kernel: Weak<Kernel>,
    upstream: Arc<Upstream>,
    stopping: CancellationToken,
    seen: oneshot::Sender<()>,
) {
    let (mut seen, mut known, mut patience) = (Some(seen), None, LEAST);
    loop {
        let looked = tokio::select! {
            () = stopping.cancelled() => break,
            looked = upstream.look() => looked,
        };
        let Some(kernel) = kernel.upgrade() else {
            break;
        };
        let wait = match looked {
            Ok(standings) => {
                patience = LEAST;
                let found = found(standings.into_iter());
                if known.as_ref() != Some(&found) {
                    for problem in problems(&found) {
                        tracing::warn!(upstream = upstream.id(), "{problem}");
                    }
                }
                kernel.follow(&upstream, &mut known, found).await;
                LOOK
            }
            Err(why) => {
                tracing::warn!(upstream = upstream.id(), why, "an upstream is not there");
                let wait = patience;
                patience = MOST.min(patience * 2);
                wait
            }
        };
        drop((kernel, seen.take()));
        let is_there = wait == LOOK;
        let rung = async {
            tokio::time::sleep(PAUSE).await;
            match is_there {
                true => upstream.bell.notified().await,
                false => std::future::pending().await,
            }
        };
        tokio::select! {
            () = stopping.cancelled() => break,
            () = rung => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
    upstream.close().await;
}

/// What was found, as the ledger has it.
fn found(standings: impl Iterator<Item = (String, Standing)>) -> Value {
    let (mut at_hand, mut absent) = (Vec::new(), serde_json::Map::new());
    for (_, standing) in standings {
        match standing {
            Standing::AsAccepted(entry) => {
                at_hand.push(json!({"id": entry.id, "digest": entry.digest}))
            }
            Standing::Unaccepted(entry) => {
                absent.insert(entry.id.to_string(), json!("not_accepted_as_it_is"));
            }
            Standing::NotOffered(id) => {
                absent.insert(id.to_string(), json!("not_offered"));
            }
            Standing::Unusable(id, _) => {
                absent.insert(id.to_string(), json!("unusable"));
            }
            Standing::NotTaken => {}
        }
    }
    json!({"at_hand": at_hand, "absent": absent})
}

/// What an operator should hear of it.
fn problems(found: &Value) -> impl Iterator<Item = String> {
    let absent = found.get("absent").and_then(Value::as_object);
    absent.into_iter().flatten().map(|(id, why)| {
        let why = why.as_str().unwrap_or_default();
        format!("`{id}` is absent: {why}; `actum upstreams` tells more, `actum lock --config` shows and accepts changes")
    })
}
