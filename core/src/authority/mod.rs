//! From an event to authority.
//!
//! ```text
//! files ─► ManifestSet                      event + IdentityBook ─► identify
//!              │                                        │
//!              ├─► routes ─────────────► resolve_route ◄┘
//!              └─► agent, workflow, pack, policy ─► compose ─► Composition
//! ```
//!
//! Nothing here reads a file, a clock or a catalog: texts, the time and "is this action known?" are
//! arguments. Whatever is missing, unverified or not understood grants nothing.

pub mod claims;
pub mod compose;
pub mod document;
pub mod event;
pub mod identity;
pub mod manifest;
pub mod route;
#[cfg(test)]
pub(crate) mod sample;
pub mod set;
pub mod terms;

pub use claims::Mandate;
pub use compose::{ClaimsInput, ComposeError, ComposeInput, Composition, Limits, compose};
pub use event::{ActorHint, Event, Identity, RawEventRef, TargetRef, TrustContext};
pub use identity::{IdentityBook, IdentityEntry, KnownIdentifier, identify};
pub use manifest::{
    Actor, AgentManifest, CapabilityPack, HeldArgument, ListKind, Listed, Policy, Route, Scenario,
    SessionPolicy, WorkflowManifest,
};
pub use route::{Resolution, RouteDenial, resolve_route};
pub use set::{Artifact, Listing, ManifestKind, ManifestSet, Word, WordKind};
