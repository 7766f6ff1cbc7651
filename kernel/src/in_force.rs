//! The manifests that are in force: the operator's files, and in the place of some of them the active artifacts. One
//! value that is replaced whole.
//!
//! Whoever reads them takes the set once for one event or one call, and goes by it to the end. A set that is not in
//! order in every respect that the start checks never comes into force, and one that is comes so recorded. Files are
//! kept as they were last loaded: an artifact is put in force beside the very files that its approver was shown it
//! beside, whatever somebody is writing in the folder meanwhile.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use actum::authority::{Artifact, ManifestKind, ManifestSet};
use actum::{ActionCatalog, Digest};
use serde_json::json;
use tokio::sync::{Mutex, MutexGuard};

use crate::clock::Clock;
use crate::ledger::{Entry, Kind};
use crate::manifests;
use crate::store::{ActiveArtifacts, Store, StoreError};

/// The most faults of a set that are told one by one.
const MAX_TOLD: usize = 500;

/// The manifests that are in force, and where they come from.
pub struct InForce {
    folder: PathBuf,
    catalog: Arc<ActionCatalog>,
    store: Arc<dyn Store>,
    clock: Clock,
    current: RwLock<Arc<Current>>,
    /// Held from looking to replacing, so that no older set comes into force after a newer one.
    turn: Mutex<()>,
}

/// A set, and what it was made of.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) manifests: Arc<ManifestSet>,
    files: Arc<Vec<(String, String)>>,
    pub(crate) artifacts: Vec<Artifact>,
    /// How often artifacts had changed.
    pub(crate) changes: i64,
}

impl Current {
    /// The artifact of this kind and id.
    pub(crate) fn artifact(&self, kind: ManifestKind, id: &str) -> Option<&Artifact> {
        let mut all = self.artifacts.iter();
        all.find(|it| it.kind == kind && it.id == id)
    }

    /// The text that is in force for this kind and id.
    pub(crate) fn text(&self, kind: ManifestKind, id: &str) -> Option<&str> {
        let artifact = self
            .artifact(kind, id)
            .map(|artifact| artifact.text.as_str());
        artifact.or_else(|| self.file(kind, id).map(|(_, text)| text))
    }

    /// The operator's file of this kind and id: its path within the folder, and its text.
    pub(crate) fn file(&self, kind: ManifestKind, id: &str) -> Option<(&str, &str)> {
        let of_kind = |path: &str| ManifestKind::of_path(path) == Some(kind);
        let found = self.files.iter().find(|(path, text)| {
            of_kind(path) && kind.read_head(text).is_ok_and(|head| head.id == id)
        });
        found.map(|(path, text)| (path.as_str(), text.as_str()))
    }
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
    /// The revision that is in force now; the same where nothing has changed.
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
    /// Puts the first set in force: files that were read, and the artifacts of the store.
    pub(crate) async fn open(
        files: Vec<(String, String)>,
        folder: PathBuf,
        catalog: Arc<ActionCatalog>,
        store: Arc<dyn Store>,
        clock: Clock,
    ) -> Result<Self, Vec<String>> {
        let ActiveArtifacts { changes, artifacts } = store
            .active_artifacts()
            .await
            .map_err(|error| vec![error.to_string()])?;
        let manifests = manifests::checked(&files, &artifacts, &folder, &catalog)?;
        let current = Current {
            manifests: Arc::new(manifests),
            files: Arc::new(files),
            artifacts,
            changes,
        };
        Ok(Self {
            folder,
            catalog,
            store,
            clock,
            current: RwLock::new(Arc::new(current)),
            turn: Mutex::new(()),
        })
    }

    pub(crate) fn catalog(&self) -> &ActionCatalog {
        &self.catalog
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The set that is in force.
    #[must_use]
    pub fn now(&self) -> Arc<ManifestSet> {
        Arc::clone(&self.current().manifests)
    }

    pub(crate) fn current(&self) -> Arc<Current> {
        // Nothing panics while it holds the lock, and a pointer is whole in any case.
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The set that is in force by what the store has now.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot say, or when what another kernel put in force is faulty here.
    pub(crate) async fn up_to_date(&self) -> Result<Arc<Current>, StoreError> {
        self.as_of(self.store.artifact_changes().await?).await
    }

    /// The set that is in force once artifacts have changed so often.
    ///
    /// # Errors
    /// As [`up_to_date`](Self::up_to_date).
    pub(crate) async fn as_of(&self, changes: i64) -> Result<Arc<Current>, StoreError> {
        let current = self.current();
        if current.changes >= changes {
            return Ok(current);
        }
        let turn = self.turn().await;
        self.caught_up(&turn, changes).await
    }

    /// The turn to change what is in force.
    pub(crate) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// What is in force, with the changes of other kernels up to this one.
    pub(crate) async fn caught_up(
        &self,
        _turn: &MutexGuard<'_, ()>,
        changes: i64,
    ) -> Result<Arc<Current>, StoreError> {
        let current = self.current();
        if current.changes >= changes {
            return Ok(current);
        }
        let ActiveArtifacts { changes, artifacts } = self.store.active_artifacts().await?;
        let files = Arc::clone(&current.files);
        // INVARIANT: not by the set of before, which may allow what was taken back.
        let manifests = self
            .checked(&files, &artifacts, &self.folder)
            .map_err(|faults| StoreError::Misfit(bounded(faults).join("\n")))?;
        tracing::info!(revision = %manifests.revision(), "artifacts of another kernel are in force");
        Ok(self.replace(Current {
            manifests: Arc::new(manifests),
            files,
            artifacts,
            changes,
        }))
    }

    /// The set of what is in force with other artifacts.
    ///
    /// # Errors
    /// Every fault. Files are named within the folder, whose place is nobody's business but the operator's.
    pub(crate) fn with(
        &self,
        current: &Current,
        artifacts: &[Artifact],
    ) -> Result<ManifestSet, Vec<String>> {
        self.checked(&current.files, artifacts, Path::new(""))
    }

    /// Replaces the artifacts that are in force, after the store has them.
    pub(crate) fn put_in_force(
        &self,
        _turn: &MutexGuard<'_, ()>,
        before: &Current,
        manifests: ManifestSet,
        artifacts: Vec<Artifact>,
    ) {
        self.replace(Current {
            manifests: Arc::new(manifests),
            files: Arc::clone(&before.files),
            artifacts,
            changes: before.changes.saturating_add(1),
        });
    }

    /// Reads the operator's files anew and puts them in force, if they are in order.
    ///
    /// # Errors
    /// [`NotReloaded`] with every fault, or that the change could not be recorded; the set of before stays in force.
    pub async fn reload(&self, by: &str) -> Result<Reloaded, NotReloaded> {
        let _turn = self.turn().await;
        let folder = self.folder.clone();
        let read = tokio::task::spawn_blocking(move || {
            manifests::read_files(&folder).map_err(|faults| manifests::told(&faults))
        });
        let read = read
            .await
            .unwrap_or_else(|error| Err(vec![error.to_string()]));
        let files = read.map_err(|faults| NotReloaded::Faulty(bounded(faults)))?;
        let ActiveArtifacts { changes, artifacts } = self.store.active_artifacts().await?;
        let manifests = self
            .checked(&files, &artifacts, &self.folder)
            .map_err(|faults| NotReloaded::Faulty(bounded(faults)))?;
        let (from, to) = (self.now().revision(), manifests.revision());
        if from != to {
            let entry = Entry {
                at: self.clock.now(),
                kind: Kind::ManifestsLoaded,
                body: json!({"from": from, "to": to, "by": by}),
            };
            self.store.record(entry).await?;
            self.replace(Current {
                manifests: Arc::new(manifests),
                files: Arc::new(files),
                artifacts,
                changes,
            });
        }
        Ok(Reloaded { from, to })
    }

    fn checked(
        &self,
        files: &[(String, String)],
        artifacts: &[Artifact],
        folder: &Path,
    ) -> Result<ManifestSet, Vec<String>> {
        manifests::checked(files, artifacts, folder, &self.catalog)
    }

    fn replace(&self, next: Current) -> Arc<Current> {
        let next = Arc::new(next);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::clone(&next);
        next
    }
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
