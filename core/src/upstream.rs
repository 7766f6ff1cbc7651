//! Actions whose handler is another system's tool, such as one of a third party's MCP server.
//!
//! Nobody can annotate such a handler. What an annotation says of one of ours, its descriptor aside, the operator says
//! of it, and what its system says of itself counts once a person accepted it. From there on it is an action as any
//! other: it enters a [`Registry`](crate::Registry), is in its catalog and in the surface lock, and only an
//! [`Admitted`](crate::registry::Admitted) call reaches it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::{HandlerContext, HandlerFuture};
use crate::bound::BoundArgument;
use crate::catalog::EgressDeclaration;
use crate::descriptor::ToolDescriptor;
use crate::id::ActionId;
use crate::requirement::Requirements;

/// Runs one call of an upstream's tool, with arguments that fit.
pub type UpstreamHandler = Arc<dyn Fn(HandlerContext, Value) -> HandlerFuture + Send + Sync>;

/// Where an action is from that is another system's, and what all calls of it are held to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpstreamTool {
    /// The upstream and its own name of the tool, such as `files/read_text_file`.
    pub tool: String,
    /// What the arguments of every call are held to, whoever makes it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<BoundArgument>,
}

/// An action that is another system's tool.
#[derive(Clone)]
pub struct UpstreamAction {
    /// Its id.
    pub id: ActionId,
    /// Where it is from.
    pub from: UpstreamTool,
    /// What models are told of it.
    pub descriptor: ToolDescriptor,
    /// What leaves the kernel when it runs.
    pub egress: EgressDeclaration,
    /// What it requires of an actor.
    pub requirements: Requirements,
    /// The paths at which its arguments and results are redacted, each with the text that stands there instead.
    pub redactions: BTreeMap<String, String>,
    /// No grant may hand it on.
    pub non_delegable: bool,
    /// Runs a call.
    pub handler: UpstreamHandler,
}

impl fmt::Debug for UpstreamAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UpstreamAction({}, {})", self.id, self.from.tool)
    }
}

/// Why an upstream's tool cannot be an action.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("`{tool}` cannot be `{id}`: {problem}")]
pub struct UpstreamFault {
    /// The action.
    pub id: ActionId,
    /// The upstream and its tool.
    pub tool: String,
    /// What is wrong, and how to mend it.
    pub problem: String,
}
