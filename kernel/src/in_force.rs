//! The manifests that are in force: one value that is replaced whole.
//!
//! Whoever reads them takes the set once for one event or one call, and goes by it to the end. A set that is not in
//! order in every respect that the start checks never comes into force, and one that is comes so recorded.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use actum::authority::ManifestSet;
use actum::{ActionCatalog, Digest};
use serde_json::json;
use tokio::sync::Mutex;

use crate::clock::Clock;
use crate::ledger::{Entry, Kind};
use crate::manifests;
use crate::store::{Store, StoreError};

/// The most faults of a set that are told one by one.
const MAX_TOLD: usize = 500;

/// The manifests that are in force, and where they come from.
pub struct InForce {
    folder: PathBuf,
    catalog: Arc<ActionCatalog>,
    store: Arc<dyn Store>,
    clock: Clock,
    current: RwLock<Arc<ManifestSet>>,
    /// Held from reading to replacing, so that no older set comes into force after a newer one.
    turn: Mutex<()>,
}

impl fmt::Debug for InForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InForce({})", self.now().revision())
    }
}

/// What a reload did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reloaded {
    /// The revision that was in force.
    pub from: Digest,
    /// The revision that is in force now; the same where no file has changed.
    pub to: Digest,
}

/// Why a reload changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum NotReloaded {
    /// The manifests are not in order: every fault.
    #[error("the manifests are faulty, so those of before stay in force:\n{}", .0.join("\n"))]
    Faulty(Vec<String>),
    /// The change could not be recorded.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl InForce {
    /// Begins with a set that the start has checked.
    pub(crate) fn new(
        manifests: ManifestSet,
        folder: PathBuf,
        catalog: Arc<ActionCatalog>,
        store: Arc<dyn Store>,
        clock: Clock,
    ) -> Self {
        Self {
            folder,
            catalog,
            store,
            clock,
            current: RwLock::new(Arc::new(manifests)),
            turn: Mutex::new(()),
        }
    }

    /// The set that is in force.
    #[must_use]
    pub fn now(&self) -> Arc<ManifestSet> {
        // Nothing panics while it holds the lock, and a pointer is whole in any case.
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the operator's files anew and puts them in force, if they are in order.
    ///
    /// # Errors
    /// [`NotReloaded`] with every fault, or that the change could not be recorded; the set of before stays in force.
    pub async fn reload(&self, by: &str) -> Result<Reloaded, NotReloaded> {
        let _turn = self.turn.lock().await;
        let (folder, catalog) = (self.folder.clone(), Arc::clone(&self.catalog));
        let read = tokio::task::spawn_blocking(move || {
            let manifests = manifests::load(&folder).map_err(|faults| told(&faults))?;
            match manifests::faults(&manifests, &catalog, &folder) {
                faults if faults.is_empty() => Ok(manifests),
                faults => Err(faults),
            }
        });
        let read = read
            .await
            .unwrap_or_else(|error| Err(vec![error.to_string()]));
        let manifests = read.map_err(|faults| NotReloaded::Faulty(bounded(faults)))?;
        let (from, to) = (self.now().revision(), manifests.revision());
        if from != to {
            let entry = Entry {
                at: self.clock.now(),
                kind: Kind::ManifestsLoaded,
                body: json!({"from": from, "to": to, "by": by}),
            };
            self.store.record(entry).await?;
            self.replace(manifests);
        }
        Ok(Reloaded { from, to })
    }

    fn replace(&self, manifests: ManifestSet) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(manifests);
    }
}

fn told(faults: &actum::authority::document::Faults) -> Vec<String> {
    faults.as_slice().iter().map(ToString::to_string).collect()
}

fn bounded(mut faults: Vec<String>) -> Vec<String> {
    let more = faults.len().saturating_sub(MAX_TOLD);
    faults.truncate(MAX_TOLD);
    if more > 0 {
        faults.push(format!(
            "{more} further faults are not listed; mend these first"
        ));
    }
    faults
}
