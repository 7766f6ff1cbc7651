//! `artifact.propose`, `artifact.revoke` and `artifact.nominate_upstream`: manifests that a worker asks for.

use std::sync::Arc;

use actum::authority::ManifestKind;
use actum::schema::ArgumentFault;
use actum::{ActionError, Call, action};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::artifacts::{Impossible, Wish};
use crate::in_force::InForce;

/// The artifacts of this kernel, and what is in force.
#[derive(Debug, Clone)]
pub struct Artifacts(pub(crate) Arc<InForce>);

/// What a manifest is.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ArtifactKind {
    Route,
    Agent,
    Workflow,
    Pack,
    Policy,
    Actor,
    Scenario,
}

impl From<ArtifactKind> for ManifestKind {
    fn from(kind: ArtifactKind) -> Self {
        match kind {
            ArtifactKind::Route => Self::Route,
            ArtifactKind::Agent => Self::Agent,
            ArtifactKind::Workflow => Self::Workflow,
            ArtifactKind::Pack => Self::CapabilityPack,
            ArtifactKind::Policy => Self::Policy,
            ArtifactKind::Actor => Self::Actor,
            ArtifactKind::Scenario => Self::Scenario,
        }
    }
}

impl From<ManifestKind> for ArtifactKind {
    fn from(kind: ManifestKind) -> Self {
        match kind {
            ManifestKind::Route => Self::Route,
            ManifestKind::Agent => Self::Agent,
            ManifestKind::Workflow => Self::Workflow,
            ManifestKind::CapabilityPack => Self::Pack,
            ManifestKind::Policy => Self::Policy,
            ManifestKind::Actor => Self::Actor,
            ManifestKind::Scenario => Self::Scenario,
        }
    }
}

/// A manifest that is asked for.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Propose {
    /// What the manifest is.
    kind: ArtifactKind,
    /// The whole manifest as YAML, with `lifecycle_state: active`, 1 to 32,000 characters. It takes the place of the
    /// one with its id, if there is one.
    #[schemars(length(min = 1, max = 32000))]
    manifest: String,
    /// Why it is needed, for the owner, 1 to 500 characters.
    #[schemars(length(min = 1, max = 500))]
    reason: String,
}

/// An artifact that is named.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// What the manifest is.
    kind: ArtifactKind,
    /// The manifest's id, 1 to 128 characters.
    #[schemars(length(min = 1, max = 128))]
    id: String,
    /// Why, for the owner, 1 to 500 characters.
    #[schemars(length(min = 1, max = 500))]
    reason: String,
}

/// What is in force now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InForceNow {
    /// The version that was put in force, or taken back.
    pub artifact: String,
    /// The revision of all manifests.
    pub revision: String,
}

/// The artifact that was noted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Noted {
    /// Its version.
    pub artifact: String,
}

impl Artifacts {
    async fn make(
        &self,
        call: &Call,
        wish: Wish,
        reason: String,
    ) -> Result<InForceNow, ActionError> {
        let making = Arc::clone(&self.0);
        let (artifact, revision) = making.make(call.clone(), wish, reason).await?;
        Ok(InForceNow {
            artifact: artifact.to_string(),
            revision: revision.to_string(),
        })
    }

    /// The faults of a wish that its worker is told. Whether the set would be in order with it is told to those who
    /// approve, since it tells which ids exist.
    async fn faults_of(&self, wish: &Wish) -> Result<Vec<ArgumentFault>, ActionError> {
        let foreseen = self.0.foresee(wish).await?;
        Ok(foreseen.map_or_else(Impossible::told_to_worker, |_| Vec::new()))
    }
}

impl Propose {
    fn wish(&self) -> Wish {
        Wish::Propose {
            kind: self.kind.into(),
            text: self.manifest.clone(),
        }
    }
}

impl Named {
    fn wish(&self) -> Wish {
        Wish::Revoke {
            kind: self.kind.into(),
            id: self.id.clone(),
        }
    }
}

/// Puts a manifest in force. Needs approval: it may give any route anything, to the one who asks as well. The owner is
/// shown what it would widen.
#[action(
    id = "artifact.propose",
    title = "Propose a manifest",
    description = "Ask the owner to put a manifest (a route, agent, workflow, pack, policy, actor or scenario) in force.",
    approval_required,
    non_delegable,
    idempotent,
    check = can_be_proposed
)]
pub async fn propose(
    artifacts: &Artifacts,
    call: &Call,
    ask: Propose,
) -> Result<InForceNow, ActionError> {
    artifacts.make(call, ask.wish(), ask.reason).await
}

/// What a person need not be asked: whether it is a manifest at all.
async fn can_be_proposed(
    artifacts: &Artifacts,
    _: &Call,
    ask: &Propose,
) -> Result<Vec<ArgumentFault>, ActionError> {
    artifacts.faults_of(&ask.wish()).await
}

/// Takes an artifact back. Needs approval: what comes in its place, the version before it or the operator's file, may
/// allow more.
#[action(
    id = "artifact.revoke",
    title = "Revoke a manifest",
    description = "Ask the owner to take a proposed manifest back: the version before it, or the operator's file, is in force again.",
    approval_required,
    non_delegable,
    idempotent,
    check = can_be_revoked
)]
pub async fn revoke(
    artifacts: &Artifacts,
    call: &Call,
    ask: Named,
) -> Result<InForceNow, ActionError> {
    artifacts.make(call, ask.wish(), ask.reason).await
}

async fn can_be_revoked(
    artifacts: &Artifacts,
    _: &Call,
    ask: &Named,
) -> Result<Vec<ArgumentFault>, ActionError> {
    artifacts.faults_of(&ask.wish()).await
}

/// Asks the operator to take an artifact over into the files. Needs no approval: it changes nobody's authority, and is a
/// note in the operator's list.
#[action(
    id = "artifact.nominate_upstream",
    title = "Nominate a manifest",
    description = "Ask the operator to take a manifest that was proposed and approved over into the operator's own files.",
    non_delegable,
    idempotent
)]
pub async fn nominate_upstream(
    artifacts: &Artifacts,
    call: &Call,
    ask: Named,
) -> Result<Noted, ActionError> {
    let kind = ask.kind.into();
    let artifact = artifacts
        .0
        .nominate(call, kind, &ask.id, &ask.reason)
        .await?;
    Ok(Noted {
        artifact: artifact.to_string(),
    })
}

/// The id of the action that proposes, as its annotation has it.
pub(crate) fn propose_id() -> &'static str {
    __action_propose.id()
}

/// A call that proposes a manifest: its action and arguments.
pub(super) fn proposal(
    kind: ArtifactKind,
    manifest: &str,
    reason: &str,
) -> (String, Map<String, Value>) {
    let ask = Propose {
        kind,
        manifest: manifest.to_owned(),
        reason: reason.to_owned(),
    };
    let arguments = match serde_json::to_value(ask) {
        Ok(Value::Object(fields)) => fields,
        // Texts always are; without arguments the call is refused.
        _ => Map::new(),
    };
    (propose_id().to_owned(), arguments)
}

/// The change that a stored call asks for, if it asks for one.
pub(crate) fn wish_of(action: &str, arguments: &str) -> Option<Wish> {
    if action == propose_id() {
        serde_json::from_str(arguments)
            .ok()
            .map(|ask: Propose| ask.wish())
    } else if action == __action_revoke.id() {
        serde_json::from_str(arguments)
            .ok()
            .map(|ask: Named| ask.wish())
    } else {
        None
    }
}
