//! Artifacts as they are stored: versions of manifests, of which one at most of each kind and id is active.
//!
//! Each change of the active ones is counted, and is made only on top of the count that its maker has seen: of two at
//! once, one has to look again.

mod tables;

use actum::Digest;
use actum::authority::{Artifact, ManifestKind};
use serde::{Deserialize, Serialize};
use sqlx::FromRow;
use ulid::Ulid;

use super::StoreError;
use super::rows::{digest, ulid, unreadable};
pub(super) use tables::Tables;

/// The most versions that are listed.
const MOST: i64 = 10_000;

/// Where a version stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactState {
    /// It is in force, in the place of the file of its kind and id.
    Active,
    /// A later version took its place.
    Superseded,
    /// It was taken back.
    Revoked,
}

impl ArtifactState {
    /// The state as it is stored and told.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Superseded => "superseded",
            Self::Revoked => "revoked",
        }
    }
}

/// A version as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredArtifact {
    /// The manifest.
    pub artifact: Artifact,
    /// The digest of its text.
    pub digest: Digest,
    /// Where it stands.
    pub state: ArtifactState,
    /// The call that proposed it.
    pub call: Ulid,
    /// That call's task.
    pub task: Ulid,
    /// Why it was proposed.
    pub reason: String,
    /// When it became active, RFC 3339 UTC.
    pub at: String,
    /// The call that revoked it.
    pub revoked_by: Option<Ulid>,
    /// Why the operator shall take it over into the files.
    pub nominated: Option<String>,
}

/// The artifacts that are in force.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActiveArtifacts {
    /// How often they had changed.
    pub changes: i64,
    /// One for each kind and id at most.
    pub artifacts: Vec<Artifact>,
}

/// A version to be stored as the active one.
#[derive(Debug, Clone)]
pub struct NewArtifact {
    /// The manifest, with the version after the last one.
    pub artifact: Artifact,
    /// The call that proposed it.
    pub call: Ulid,
    /// That call's task.
    pub task: Ulid,
    /// Why.
    pub reason: String,
    /// How often the active ones had changed when this was decided.
    pub after: i64,
}

/// An active version to be taken back.
#[derive(Debug, Clone)]
pub struct Revocation {
    /// What it is.
    pub kind: ManifestKind,
    /// Its id.
    pub id: String,
    /// Its version.
    pub version: u32,
    /// The call that revokes it.
    pub call: Ulid,
    /// How often the active ones had changed when this was decided.
    pub after: i64,
}

/// Of `artifacts`.
#[derive(FromRow)]
struct ArtifactRow {
    kind: String,
    id: String,
    version: i64,
    text: String,
    digest: String,
    state: String,
    call_id: String,
    task_id: String,
    reason: String,
    created_at: String,
    revoked_by: Option<String>,
    nominated: Option<String>,
}

impl TryFrom<ArtifactRow> for StoredArtifact {
    type Error = StoreError;

    fn try_from(row: ArtifactRow) -> Result<Self, StoreError> {
        let told =
            |what: &str| unreadable(format!("{what} of the artifact {}/{}", row.kind, row.id));
        let states = [
            ArtifactState::Active,
            ArtifactState::Superseded,
            ArtifactState::Revoked,
        ];
        let state = states.into_iter().find(|state| state.as_str() == row.state);
        let found = digest(&row.digest)?;
        // What is in force is what was approved, whatever became of the database.
        if Digest::of_bytes(row.text.as_bytes()) != found {
            return Err(told("the text is not what was approved"));
        }
        Ok(Self {
            state: state.ok_or_else(|| told("the state"))?,
            call: ulid(&row.call_id)?,
            task: ulid(&row.task_id)?,
            revoked_by: row.revoked_by.as_deref().map(ulid).transpose()?,
            artifact: Artifact {
                kind: ManifestKind::of_folder(&row.kind).ok_or_else(|| told("the kind"))?,
                version: row.version.try_into().map_err(|_| told("the version"))?,
                id: row.id,
                text: row.text,
            },
            digest: found,
            reason: row.reason,
            at: row.created_at,
            nominated: row.nominated,
        })
    }
}

/// The artifacts of rows.
fn plain(rows: Vec<ArtifactRow>) -> Result<Vec<Artifact>, StoreError> {
    let stored = rows.into_iter().map(StoredArtifact::try_from);
    stored.map(|stored| Ok(stored?.artifact)).collect()
}
