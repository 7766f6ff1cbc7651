//! The owner's door to artifacts: which there are, and the text of one.

use std::sync::Arc;

use actum::Digest;
use actum::authority::ManifestKind;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use similar::TextDiff;
use ulid::Ulid;

use super::authenticate;
use crate::Kernel;
use crate::in_force::Current;
use crate::openapi::forms::{Id, Sha256};
use crate::reply::{Refusal, json_value};
use crate::store::{ArtifactState, StoredArtifact};

/// A version, as the owner is told of it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToldArtifact {
    /// The folder of its kind.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// Its version.
    pub version: u32,
    /// Where it stands.
    pub state: ArtifactState,
    /// The digest of its text.
    #[schemars(with = "Sha256")]
    pub digest: Digest,
    /// The call that proposed it.
    #[schemars(with = "Id")]
    pub call: Ulid,
    /// That call's task.
    #[schemars(with = "Id")]
    pub task: Ulid,
    /// When it became active, RFC 3339 UTC.
    pub at: String,
    /// Why it was proposed: untrusted.
    pub reason: String,
    /// Why the operator shall take it over: untrusted.
    pub nominated: Option<String>,
    /// The operator's file of this kind and id, as it was last loaded.
    pub file: Option<String>,
    /// Whether that file has the very text, so that the artifact is not needed any more.
    pub is_taken_over: bool,
}

/// `GET /v1/owner/artifacts`
pub async fn list(
    State(kernel): State<Arc<Kernel>>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    authenticate(&kernel, &headers)?;
    let current = kernel.manifests.up_to_date().await?;
    let stored = kernel.store.artifacts().await?;
    let told: Vec<ToldArtifact> = stored.iter().map(|one| told(&current, one)).collect();
    let answer = json!({"ok": true, "revision": current.manifests.revision(), "artifacts": told});
    Ok(json_value(StatusCode::OK, &answer))
}

/// Which version.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Which {
    #[serde(default)]
    version: Option<u32>,
}

/// `GET /v1/owner/artifacts/{kind}/{id}?version=N`: the active version, or the newest if none is, unless one is named;
/// with its text, and the lines in which it differs from the operator's file.
pub async fn show(
    State(kernel): State<Arc<Kernel>>,
    path: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
    query: Result<Query<Which>, QueryRejection>,
) -> Result<Response, Refusal> {
    authenticate(&kernel, &headers)?;
    let Query(Which { version }) =
        query.map_err(|rejection| Refusal::invalid(rejection.body_text()))?;
    let named = path.ok().and_then(|Path((folder, id))| {
        let kind = ManifestKind::of_folder(&folder)?;
        Some((kind, id))
    });
    let (kind, id) = named.ok_or_else(unknown)?;
    let mut versions = kernel.store.versions_of(kind, &id).await?.into_iter().rev();
    let found = match version {
        Some(version) => versions.find(|one| one.artifact.version == version),
        None => {
            let newest = versions.next();
            match newest {
                Some(newest) if newest.state != ArtifactState::Active => versions
                    .find(|one| one.state == ArtifactState::Active)
                    .or(Some(newest)),
                newest => newest,
            }
        }
    };
    let found = found.ok_or_else(unknown)?;
    let current = kernel.manifests.up_to_date().await?;
    let (path, file) = current.file(kind, &id).unwrap_or(("nothing", ""));
    let lines = TextDiff::from_lines(file, &found.artifact.text)
        .unified_diff()
        .header(path, &found.artifact.to_string())
        .to_string();
    let answer = json!({
        "ok": true, "artifact": told(&current, &found), "text": found.artifact.text, "lines": lines,
    });
    Ok(json_value(StatusCode::OK, &answer))
}

fn told(current: &Current, stored: &StoredArtifact) -> ToldArtifact {
    let artifact = &stored.artifact;
    let file = current.file(artifact.kind, &artifact.id);
    ToldArtifact {
        kind: artifact.kind.folder().to_owned(),
        id: artifact.id.clone(),
        version: artifact.version,
        state: stored.state,
        digest: stored.digest,
        call: stored.call,
        task: stored.task,
        at: stored.at.clone(),
        reason: stored.reason.clone(),
        nominated: stored.nominated.clone(),
        file: file.map(|(path, _)| path.to_owned()),
        is_taken_over: file.is_some_and(|(_, text)| text == artifact.text),
    }
}

fn unknown() -> Refusal {
    Refusal::new(
        StatusCode::NOT_FOUND,
        "input_invalid",
        "unknown_artifact",
        "there is no such artifact or version; `actum artifacts` lists them",
    )
}
