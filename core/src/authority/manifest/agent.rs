//! Agents: what an agent is designed to do, and what it may use up.

use super::{ActionList, ListKind, Listed};
use crate::authority::document::{Located, record};
use crate::authority::terms::{Lifecycle, Persistence, Provider};

record! {
    /// An agent.
    pub struct AgentManifest {
        /// Its name.
        pub id: Located<String>,
        /// The version of this shape.
        pub schema_version: Located<u32>,
        /// The version of the agent.
        pub version: u32 = 1,
        /// Only `active` agents take part.
        pub lifecycle_state: Lifecycle,
        /// What it is for.
        pub purpose: String,
        /// How long it lives.
        pub persistence: Persistence,
        /// Its voice.
        pub persona: String,
        /// Which models it may use.
        pub model_policy: ModelPolicy,
        /// What it may remember.
        pub memory_scope: MemoryScope = MemoryScope::default(),
        /// The actions it is built to call.
        pub designed_tools: Vec<Listed> = Vec::new(),
        /// The actions it may call after approval.
        pub approval_required_tools: Vec<Listed> = Vec::new(),
        /// The actions it may never call.
        pub denied_tools: Vec<Listed> = Vec::new(),
        /// What it may use up in one task.
        pub limits: AgentLimits,
        /// Where its output may go.
        pub output_channels: OutputChannels = OutputChannels::default(),
    }
}

impl AgentManifest {
    /// Its action lists.
    #[must_use]
    pub fn lists(&self) -> [ActionList<'_>; 3] {
        [
            ActionList {
                kind: ListKind::Allow,
                field: "designed_tools",
                actions: &self.designed_tools,
            },
            ActionList {
                kind: ListKind::Approval,
                field: "approval_required_tools",
                actions: &self.approval_required_tools,
            },
            ActionList {
                kind: ListKind::Deny,
                field: "denied_tools",
                actions: &self.denied_tools,
            },
        ]
    }
}

record! {
    /// Which models an agent may use.
    pub struct ModelPolicy {
        /// Where they may run.
        pub allowed_providers: Vec<Provider>,
        /// Whether private context goes through the gateway only.
        pub private_context_requires_gateway: bool,
        /// The most model calls of one task.
        pub max_model_calls_per_task: u32,
    }
}

record! {
    /// What an agent may remember.
    #[derive(Default)]
    pub struct MemoryScope {
        /// The classes of memories it may use.
        pub allowed_classes: Vec<String> = Vec::new(),
        /// The scopes it may use.
        pub allowed_scopes: Vec<String> = Vec::new(),
        /// The classes it may never use.
        pub denied_classes: Vec<String> = Vec::new(),
    }
}

record! {
    /// What an agent may use up in one task.
    pub struct AgentLimits {
        /// Seconds from composition to the grant's expiry.
        pub max_runtime_seconds: u64,
        /// The most artifacts.
        pub max_artifacts: u32,
        /// The most tokens of a model.
        pub max_tokens: u32,
    }
}

record! {
    /// Where an agent's output may go.
    #[derive(Default)]
    pub struct OutputChannels {
        /// The channels.
        pub allowed: Vec<String> = Vec::new(),
    }
}
