//! Who wants to be told when what is read at an address is another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use actum::Digest;
use rmcp::model::ErrorData;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::TryRecvError;

use super::resources::{self, call_at, call_of};
use crate::Kernel;
use crate::auth::LiveTask;

/// The most addresses that one client watches.
const MOST: usize = 100;
/// The most announcements that wait for whoever watches; further ones count as those of all addresses.
const WAITING: usize = 256;

/// What hosts announce.
#[derive(Debug, Clone)]
pub(crate) struct Announcements(broadcast::Sender<Arc<str>>);

impl Default for Announcements {
    fn default() -> Self {
        Self(broadcast::Sender::new(WAITING))
    }
}

impl Announcements {
    pub(crate) fn make(&self, uri: &str) {
        // Nobody may be watching.
        let _ = self.0.send(Arc::from(uri));
    }

    pub(super) fn hear(&self) -> Heard {
        Heard(self.0.subscribe())
    }
}

/// What one listener hears of announcements.
pub(super) struct Heard(broadcast::Receiver<Arc<str>>);

impl Heard {
    /// What was announced since the last time; `None` for more than could be kept.
    pub(super) fn since(&mut self) -> Option<BTreeSet<Arc<str>>> {
        let mut announced = Some(BTreeSet::new());
        loop {
            match (self.0.try_recv(), &mut announced) {
                (Ok(uri), Some(all)) => drop(all.insert(uri)),
                (Ok(_), None) => {}
                (Err(TryRecvError::Lagged(_)), _) => announced = None,
                (Err(TryRecvError::Empty | TryRecvError::Closed), _) => return announced,
            }
        }
    }
}

/// The addresses that one client watches, and how the calls among them stood when it was last told.
#[derive(Debug, Default)]
pub(super) struct Watched(BTreeMap<String, Option<Digest>>);

impl Watched {
    /// Watches one more.
    ///
    /// # Errors
    /// What reading there would be answered with, or that too many are watched.
    pub(super) async fn add(
        &mut self,
        kernel: &Arc<Kernel>,
        task: &LiveTask,
        uri: &str,
    ) -> Result<(), ErrorData> {
        if self.0.len() >= MOST && !self.0.contains_key(uri) {
            let told = format!("at most {MOST} resources are watched at once");
            return Err(ErrorData::invalid_params(told, None));
        }
        let stands = match call_of(kernel, task, uri).await? {
            Some(told) => Digest::of_json(&told).ok(),
            None if call_at(uri, &task.grant, &kernel.at_hand()).is_some() => None,
            None => return Err(resources::unknown()),
        };
        self.0.insert(uri.to_owned(), stands);
        Ok(())
    }

    /// Watches one less.
    pub(super) fn remove(&mut self, uri: &str) {
        self.0.remove(uri);
    }

    /// What is to be told by now: calls that stand otherwise, and addresses of the view that were announced.
    pub(super) async fn changed(
        &mut self,
        kernel: &Arc<Kernel>,
        task: &LiveTask,
        announced: Option<&BTreeSet<Arc<str>>>,
    ) -> Vec<String> {
        let mut changed = Vec::new();
        for (uri, stood) in &mut self.0 {
            match stood {
                Some(before) => {
                    let told = call_of(kernel, task, uri).await;
                    let now = told
                        .ok()
                        .flatten()
                        .and_then(|told| Digest::of_json(&told).ok());
                    if let Some(now) = now.filter(|now| now != before) {
                        *before = now;
                        changed.push(uri.clone());
                    }
                }
                None => {
                    let is_announced = announced.is_none_or(|all| all.contains(uri.as_str()));
                    if is_announced && call_at(uri, &task.grant, &kernel.at_hand()).is_some() {
                        changed.push(uri.clone());
                    }
                }
            }
        }
        changed
    }
}
