//! The manifests: routes, agents, workflows, capability packs and policies, as typed values.
//!
//! Their shapes are those of the files in `artifacts/`. Every struct refuses unknown fields. Action
//! ids stay text here: whether an action is known is composition's question, and an id that is
//! malformed must reach it as an unknown one. Files are checked further by
//! [`ManifestSet`](super::ManifestSet).

mod actor;
mod agent;
mod pack;
mod policy;
mod route;
mod scenario;
mod workflow;

pub use actor::Actor;
pub use agent::{AgentLimits, AgentManifest, MemoryScope, ModelPolicy, OutputChannels};
pub use pack::{AppliesTo, CapabilityPack, Constraints, HeldArgument};
pub use policy::{Policy, SessionPolicy};
pub use route::{ActorMatch, Route, RouteMatch};
pub use scenario::Scenario;
pub use workflow::{Escalation, State, Step, Transition, WorkflowManifest};

use super::document::{At, Decode, Position};

/// An action id in a list of a manifest, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The id as written.
    pub id: String,
    /// Its place; `None` if the manifest came from no text.
    pub position: Option<Position>,
}

impl Decode for Listed {
    fn expected() -> String {
        "an action id".to_owned()
    }

    fn expected_many() -> String {
        "action ids".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        String::decode(at).map(|id| Self {
            id,
            position: at.position(),
        })
    }
}

/// What a list of a manifest does to the actions in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListKind {
    /// They may be called.
    Allow,
    /// They may be called after the owner approved.
    Approval,
    /// They may not be called, whatever other lists say.
    Deny,
    /// Their arguments are held to what is said; it grants nothing.
    Bound,
}

/// One action list of a manifest.
#[derive(Debug, Clone, Copy)]
pub struct ActionList<'a> {
    /// What it does.
    pub kind: ListKind,
    /// The field's name, such as `denied_actions`.
    pub field: &'static str,
    /// The actions.
    pub actions: &'a [Listed],
}

/// The three action lists of a manifest that has the usual fields.
fn usual_lists<'a>(
    allowed: &'a [Listed],
    approval: &'a [Listed],
    denied: &'a [Listed],
) -> [ActionList<'a>; 3] {
    [
        ActionList {
            kind: ListKind::Allow,
            field: "candidate_allowed_actions",
            actions: allowed,
        },
        ActionList {
            kind: ListKind::Approval,
            field: "approval_required",
            actions: approval,
        },
        ActionList {
            kind: ListKind::Deny,
            field: "denied_actions",
            actions: denied,
        },
    ]
}
