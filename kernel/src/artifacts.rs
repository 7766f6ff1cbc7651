//! Changes of what is in force that a worker may wish for: what one would change, and making it.
//!
//! What one would do is worked out from the wish and the set in force, and from nothing else. So whoever is asked to
//! approve it, and whoever runs it when it was approved, look at the same: the approval is bound to both.

use std::collections::BTreeMap;
use std::sync::Arc;

use actum::action::Call;
use actum::authority::terms::Lifecycle;
use actum::authority::{Artifact, ManifestKind, ManifestSet};
use actum::difference::{SetDifference, between};
use actum::schema::ArgumentFault;
use actum::{ActionError, Digest};
use serde_json::{Value, json};
use similar::TextDiff;

use crate::in_force::{Current, InForce};
use crate::ledger::{Entry, Kind};
use crate::printable;
use crate::store::{NewArtifact, Revocation, StoreError};

/// The most faults of a wish that are told.
const MAX_TOLD: usize = 16;
/// The lines around a change that are shown.
const AROUND: usize = 3;

/// A change that is wished for.
#[derive(Debug, Clone)]
pub(crate) enum Wish {
    /// Another version of a manifest.
    Propose {
        /// What it is.
        kind: ManifestKind,
        /// The manifest.
        text: String,
    },
    /// The version before the active one, or the operator's file.
    Revoke {
        /// What it is.
        kind: ManifestKind,
        /// Its id.
        id: String,
    },
}

/// What a change would do.
#[derive(Debug)]
pub(crate) struct Foreseen {
    /// What is in force as long as it is not made.
    pub(crate) current: Arc<Current>,
    /// What would be in force.
    pub(crate) manifests: ManifestSet,
    artifacts: Vec<Artifact>,
    /// The version that would be stored or taken back.
    pub(crate) artifact: Artifact,
    /// The name and text of what is in force, if there is anything of that kind and id.
    was: Option<(String, String)>,
    /// The name and text of what would be.
    is: Option<(String, String)>,
}

/// Why a change cannot be made.
#[derive(Debug)]
pub(crate) enum Impossible {
    /// The wish itself has these faults.
    Wish(Vec<ArgumentFault>),
    /// What would be in force has these faults. They tell of ids that exist or do not, so that only those who approve
    /// are told.
    Set(Vec<String>),
}

impl Impossible {
    /// The faults, as those who approve are told them.
    pub(crate) fn told(self) -> String {
        let faults = match self {
            Self::Set(faults) => faults,
            Self::Wish(faults) => faults.into_iter().map(|fault| fault.problem).collect(),
        };
        faults.join("\n")
    }

    /// The faults that a worker is told: those that follow from what it wrote.
    pub(crate) fn told_to_worker(self) -> Vec<ArgumentFault> {
        match self {
            Self::Wish(faults) => faults,
            Self::Set(_) => Vec::new(),
        }
    }
}

impl Foreseen {
    /// What is in force now, and what would be, by name.
    pub(crate) fn names(&self) -> [Option<&str>; 2] {
        [&self.was, &self.is].map(|side| side.as_ref().map(|(name, _)| name.as_str()))
    }

    /// The lines that differ, as a unified diff.
    pub(crate) fn lines(&self) -> String {
        let part = |side: &Option<(String, String)>| match side {
            Some((name, text)) => (name.clone(), text.clone()),
            None => ("nothing".to_owned(), String::new()),
        };
        let ((was, old), (is, new)) = (part(&self.was), part(&self.is));
        TextDiff::from_lines(&old, &new)
            .unified_diff()
            .context_radius(AROUND)
            .header(&was, &is)
            .to_string()
    }

    /// What it does to what each route gives.
    pub(crate) fn difference(&self, in_force: &InForce) -> SetDifference {
        between(&self.current.manifests, &self.manifests, in_force.catalog())
    }
}

impl InForce {
    /// What a change would do, or every reason why it cannot be made.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot say.
    pub(crate) async fn foresee(
        &self,
        wish: &Wish,
    ) -> Result<Result<Foreseen, Impossible>, StoreError> {
        let current = self.up_to_date().await?;
        self.foresee_in(current, wish).await
    }

    async fn foresee_in(
        &self,
        current: Arc<Current>,
        wish: &Wish,
    ) -> Result<Result<Foreseen, Impossible>, StoreError> {
        let (artifact, is) = match wish {
            Wish::Propose { kind, text } => match self.proposed(&current, *kind, text).await? {
                Ok(artifact) => (artifact.clone(), Some(artifact)),
                Err(faults) => return Ok(Err(Impossible::Wish(faults))),
            },
            Wish::Revoke { kind, id } => {
                let Some(gone) = current.artifact(*kind, id).cloned() else {
                    let problem = "there is no active artifact of this kind and id";
                    return Ok(Err(Impossible::Wish(vec![fault("/id", problem)])));
                };
                let versions = self.store().versions_of(*kind, id).await?;
                let superseded = versions
                    .into_iter()
                    .rev()
                    .find(|version| version.state == crate::store::ArtifactState::Superseded);
                (gone, superseded.map(|version| version.artifact))
            }
        };
        let named = |artifact: &Artifact| (artifact.to_string(), artifact.text.clone());
        let file = current
            .file(artifact.kind, &artifact.id)
            .map(|(path, text)| (format!("file {path}"), text.to_owned()));
        let was = current.artifact(artifact.kind, &artifact.id).map(named);
        let (was, is_named) = (
            was.or_else(|| file.clone()),
            is.as_ref().map(named).or(file),
        );
        let mut artifacts: Vec<Artifact> = current
            .artifacts
            .iter()
            .filter(|other| (other.kind, &other.id) != (artifact.kind, &artifact.id))
            .cloned()
            .collect();
        artifacts.extend(is);
        // As the store has them, so that an archive of them is the same.
        artifacts.sort_by(|one, other| {
            (one.kind.folder(), &one.id).cmp(&(other.kind.folder(), &other.id))
        });
        Ok(match self.with(&current, &artifacts) {
            Ok(manifests) => Ok(Foreseen {
                current,
                manifests,
                artifacts,
                artifact,
                was,
                is: is_named,
            }),
            Err(faults) => Err(Impossible::Set(faults.into_iter().take(MAX_TOLD).collect())),
        })
    }

    /// The version that a proposal would be.
    async fn proposed(
        &self,
        current: &Current,
        kind: ManifestKind,
        text: &str,
    ) -> Result<Result<Artifact, Vec<ArgumentFault>>, StoreError> {
        let told = |problem: String| Ok(Err(vec![fault("/manifest", &problem)]));
        if !printable::is_plain(text) {
            return told("it holds characters that cannot be shown, such as tabs, marks of direction or `\\r`; leave them out".to_owned());
        }
        let head = match kind.read_head(text) {
            Ok(head) => head,
            Err(faults) => {
                let faults = faults.as_slice().iter().take(MAX_TOLD);
                let told = faults.map(|one| fault("/manifest", &one.to_string()));
                return Ok(Err(told.collect()));
            }
        };
        if head.lifecycle_state != Lifecycle::Active {
            return told(
                "`lifecycle_state` is `active`: what is approved is in force; to take an artifact away, revoke it"
                    .to_owned(),
            );
        }
        if current.text(kind, &head.id) == Some(text) {
            return told("it is in force already, with this very text".to_owned());
        }
        let versions = self.store().versions_of(kind, &head.id).await?;
        let last = versions.last().map_or(0, |last| last.artifact.version);
        Ok(Ok(Artifact {
            kind,
            id: head.id,
            version: last.saturating_add(1),
            text: text.to_owned(),
        }))
    }

    /// Makes a change that was approved.
    ///
    /// # Errors
    /// [`ActionError`] when other manifests came into force since the approval, or nothing could be recorded. Nothing
    /// is changed then.
    pub(crate) async fn make(
        self: Arc<Self>,
        call: Call,
        wish: Wish,
        reason: String,
    ) -> Result<(Artifact, Digest), ActionError> {
        // A task of its own: given up in the middle, the store would have what is not in force here.
        let making = tokio::spawn(async move { self.make_now(&call, &wish, reason).await });
        making.await?
    }

    async fn make_now(
        &self,
        call: &Call,
        wish: &Wish,
        reason: String,
    ) -> Result<(Artifact, Digest), ActionError> {
        let turn = self.turn().await;
        let changes = self.store().artifact_changes().await?;
        let current = self.caught_up(&turn, changes).await?;
        // INVARIANT: what the approver was shown is a difference from this very set.
        if current.manifests.revision() != call.revision {
            return Err(ActionError::failed(
                "other manifests came into force since this was decided; nothing is changed",
            ));
        }
        let foreseen = self.foresee_in(Arc::clone(&current), wish).await?;
        let foreseen = foreseen.map_err(|why| ActionError::failed(why.told()))?;
        let Foreseen {
            artifact,
            artifacts,
            manifests,
            ..
        } = foreseen;
        let revision = manifests.revision();
        let body = json!({
            "kind": artifact.kind.folder(), "id": artifact.id, "version": artifact.version,
            "digest": Digest::of_bytes(artifact.text.as_bytes()), "call": call.request_id, "task": call.task_id,
            "from": call.revision, "to": revision,
        });
        let is_done = match wish {
            Wish::Propose { .. } => {
                let new = NewArtifact {
                    artifact: artifact.clone(),
                    call: call.request_id,
                    task: call.task_id,
                    reason,
                    after: current.changes,
                };
                let entry = self.entry(Kind::ArtifactActivated, body);
                self.store().activate_artifact(new, entry).await?
            }
            Wish::Revoke { .. } => {
                let gone = Revocation {
                    kind: artifact.kind,
                    id: artifact.id.clone(),
                    version: artifact.version,
                    call: call.request_id,
                    after: current.changes,
                };
                let entry = self.entry(Kind::ArtifactRevoked, with(body, "reason", reason));
                self.store().revoke_artifact(gone, entry).await?
            }
        };
        if !is_done {
            return Err(ActionError::failed(
                "another kernel changed artifacts meanwhile; nothing is changed",
            ));
        }
        self.put_in_force(&turn, &current, manifests, artifacts);
        tracing::info!(%artifact, %revision, "other manifests are in force");
        Ok((artifact, revision))
    }

    fn entry(&self, kind: Kind, body: Value) -> Entry {
        Entry {
            at: self.clock().now(),
            kind,
            body,
        }
    }

    /// Notes that the operator shall take an active artifact over into the files.
    ///
    /// # Errors
    /// [`ActionError`] when there is no such active artifact, or it could not be recorded.
    pub(crate) async fn nominate(
        &self,
        call: &Call,
        kind: ManifestKind,
        id: &str,
        reason: &str,
    ) -> Result<Artifact, ActionError> {
        let current = self.up_to_date().await?;
        let gone = || ActionError::failed("there is no active artifact of this kind and id");
        let artifact = current.artifact(kind, id).cloned().ok_or_else(gone)?;
        let body = json!({
            "kind": kind.folder(), "id": id, "version": artifact.version, "reason": reason,
            "call": call.request_id, "task": call.task_id,
        });
        let which = (kind, id, artifact.version);
        let entry = self.entry(Kind::ArtifactNominated, body);
        let is_done = self.store().nominate_artifact(which, reason, entry).await?;
        is_done.then_some(artifact).ok_or_else(gone)
    }
}

fn with(body: Value, name: &str, text: String) -> Value {
    match body {
        Value::Object(mut fields) => {
            fields.insert(name.to_owned(), text.into());
            Value::Object(fields)
        }
        other => other,
    }
}

fn fault(at: &str, problem: &str) -> ArgumentFault {
    ArgumentFault {
        at: at.to_owned(),
        problem: problem.chars().take(600).collect(),
    }
}

/// The differences of routes as lines, by route and actor.
pub(crate) fn told(difference: &SetDifference) -> BTreeMap<String, Vec<String>> {
    let named = |route: &actum::difference::RouteDifference| match &route.actor {
        None => format!("route {}", route.route),
        Some(actor) => format!("route {}, actor {actor}", route.route),
    };
    let routes = difference.routes.iter();
    routes
        .map(|route| {
            let lines = route.differences.iter().map(ToString::to_string);
            (named(route), lines.collect())
        })
        .collect()
}
