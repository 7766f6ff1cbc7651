//! What grants leave of the attacks of AgentDojo, decided by [`actum::project()`] and
//! [`actum::gate::gate`] and by no model.
//!
//! [AgentDojo](https://github.com/ethz-spylab/agentdojo) (Debenedetti et al. 2024,
//! <https://arxiv.org/abs/2406.13352>) has suites of tools, user tasks, and injection tasks: what an
//! attacker writes into the data that the user's model reads. Each task comes with the calls that
//! fulfil it, its ground truth. Any user task of a suite with any injection task of it is a *pair*.
//!
//! For each user task a grant is made, in [three strengths](Strength). The question of each pair is
//! then: the model is wholly in the attacker's hands and holds the user task's grant; which of the
//! injection's calls does the gate let through? An injection is [*still possible*](judge::Fate::whole)
//! when it lets **every** call of the injection's ground truth through. A second, harder count has
//! the pairs in which it lets **some** call through that [changes something](Sinks::effects): half an
//! attack may be enough. The user task's own calls must all be shown and let through, in each
//! strength; one that is not is a fault of the whole evaluation.
//!
//! What this shows: which calls a hijacked model could still make, whatever it is told and however
//! it is asked, since no step of the judgement depends on a model.
//!
//! What it does not show:
//! - *What a model does.* No model is run: neither how often one falls for an injection, nor whether
//!   it still fulfils the user's task with fewer tools.
//! - *Answers in words.* A model that lies to its user calls nothing.
//! - *Injections without recorded calls.* Some need no tool, and no gate for tools can stop them. Of
//!   others the benchmark's data has no calls: the eight that version 1.2.2 adds to the suite
//!   `workspace` want e-mail sent. Neither kind is judged, and all of them are named.
//! - *Other ways to the attacker's end* than the calls of the ground truth. With bound sinks a model
//!   still chooses what it writes to the receivers that it may write to.
//! - *Where a grant's values come from.* The ground truth says whom the user meant; a system has to
//!   be told. The [owner's burden](burden) counts how often: sink values that do not stand in the
//!   user's prompt, each of which takes a selection or an approval. For the exact arguments of the
//!   third strength a person would have to approve nearly each call.
//! - *The check of arguments against a tool's schema.* A kernel makes it after the gate
//!   ([`Registry::admit`](actum::Registry::admit)); it would only refuse more.
//!
//! No tool declares an egress class, an output channel, a selection token or a standing approval, so
//! that names and bound arguments decide alone.

pub mod burden;
pub mod data;
pub mod grant;
pub mod judge;
pub mod table;
pub mod tally;
pub mod tools;

pub use data::{Benchmark, Sinks};
pub use grant::Strength;
pub use tally::{Tally, measure};

use actum::ActionId;
use actum::catalog::CatalogFault;
use actum::schema::SchemaFault;

use grant::NoGrant;

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// A file is not there, or cannot be read.
    #[error("{path}: {cause}; put the benchmark's data there, or name the folder that has it")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        cause: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{path}: {cause}")]
    Malformed {
        /// The file.
        path: String,
        /// What is wrong, with line and column.
        cause: serde_json::Error,
    },
    /// A tool's parameters cannot be an action's.
    #[error("{suite}: the parameters of `{tool}`: {cause}")]
    Parameters {
        /// The suite.
        suite: String,
        /// The tool.
        tool: ActionId,
        /// Why.
        cause: SchemaFault,
    },
    /// A suite's tools make no complete catalog.
    #[error("{suite}: {cause}")]
    Catalog {
        /// The suite.
        suite: String,
        /// Why.
        cause: CatalogFault,
    },
    /// A sink that its tool has no argument for: binding it would bind nothing.
    #[error("{suite}: `{tool}` has no argument `{argument}`, which is listed as a sink of it")]
    NoSuchSink {
        /// The suite.
        suite: String,
        /// The tool.
        tool: ActionId,
        /// The argument.
        argument: String,
    },
    /// A user task has no grant.
    #[error("{suite}, {task}: {cause}")]
    Grant {
        /// The suite.
        suite: String,
        /// The user task.
        task: String,
        /// Why.
        cause: NoGrant,
    },
    /// A user task's own call does not pass.
    #[error(
        "{suite}, {task}, granted by {strength}: its own call of `{tool}` does not pass ({reason}); \
         a grant that stops its own task shows nothing"
    )]
    OwnCall {
        /// The suite.
        suite: String,
        /// The user task.
        task: String,
        /// The grant's strength.
        strength: Strength,
        /// The tool called.
        tool: ActionId,
        /// The gate's reason, or `not_shown`.
        reason: &'static str,
    },
}
