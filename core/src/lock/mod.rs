//! The surface lock: every action that a model could be shown, as a person accepted it.
//!
//! [`SurfaceLock::of`] says what the surface is, [`SurfaceLock::to_text`] and [`SurfaceLock::read`] are the
//! file (`actum.lock.json`), and [`compare`] tells every change since it was accepted, each
//! with a label that says whether it narrows, keeps or widens what a model can do. A description
//! counts: it is text that a model obeys.
//!
//! The lock is about what is linked, not about who may use it; that is what grants are for.
//!
//! ```
//! use actum::lock::{Label, SurfaceLock, compare};
//!
//! let surface = SurfaceLock::of(&actum::Registry::linked()?.catalog())?;
//! let read = SurfaceLock::read("actum.lock.json", &surface.to_text()?)?;
//! assert_eq!(compare(&read, &surface), []);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod change;
mod compare;
mod parameters;
mod read;
mod requirements;
mod subset;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::catalog::{ActionCatalog, EgressDeclaration};
use crate::descriptor::Hints;
use crate::digest::{Digest, NotCanonical};
use crate::id::ActionId;
use crate::requirement::{Class, Requirements};
use crate::schema::without_fractions;
use crate::upstream::UpstreamTool;

pub use change::{Change, Label, tally, tally_of};
pub use compare::compare;

/// The format that is written, and the only one that is read.
pub const VERSION: u32 = 1;

/// The tool surface, and who accepted what changed of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SurfaceLock {
    /// The format.
    pub version: u32,
    /// Every action that agents can call, in the order of their ids.
    pub actions: Vec<LockedAction>,
    /// The ids that exist and that no agent can call: nothing dispatches them, or they are the control
    /// plane's own.
    pub known: BTreeSet<ActionId>,
    /// What was accepted since the file was first written, the newest last.
    pub accepted: Vec<Acceptance>,
}

/// One action: what a model is told of it, and what the gate asks for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LockedAction {
    /// Its id.
    pub id: ActionId,
    /// The name that models call it by.
    pub tool_name: String,
    /// A short title for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What models are told of it.
    pub description: String,
    /// Every call waits for the owner.
    pub approval_required: bool,
    /// The type of selection token that a call must present.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection_token: Option<String>,
    /// A call must come with an idempotency key; absent where it need not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub idempotency_key_required: bool,
    /// No grant may hand it on.
    pub non_delegable: bool,
    /// The kernel itself may originate it.
    pub kernel_origin: bool,
    /// What leaves the kernel; without it the gate refuses every call.
    pub egress: Option<EgressDeclaration>,
    /// What it requires of an actor; absent for nothing.
    #[serde(skip_serializing_if = "Requirements::is_empty")]
    pub requirements: Requirements,
    /// The paths at which its arguments and results are redacted; absent for none.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub redactions: BTreeSet<String>,
    /// What it promises of its effects.
    pub hints: Hints,
    /// The address at which what it reads can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// People can choose it as a prompt.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prompt: bool,
    /// Where it is from, if it is another system's tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<UpstreamTool>,
    /// JSON Schema of the arguments.
    pub parameters: Value,
    /// JSON Schema of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Over the canonical JSON (RFC 8785) of all the above.
    pub digest: Digest,
}

/// Who accepted changes, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Acceptance {
    /// A person's name.
    pub by: String,
    /// Why the changes are right.
    pub reason: String,
    /// When.
    pub at: Timestamp,
    /// The changes, as they were shown.
    pub changes: Vec<String>,
}

/// Why a catalog has no surface that could be locked.
#[derive(Debug, thiserror::Error)]
pub enum NoSurface {
    /// Dispatchable actions have no descriptor.
    #[error(
        "{} can be dispatched and has no descriptor; annotate its handler, or give one to `with_tool_descriptors`",
        .0.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
    )]
    Undescribed(Vec<ActionId>),
    /// A descriptor has no canonical JSON.
    #[error(transparent)]
    NotCanonical(#[from] NotCanonical),
}

impl SurfaceLock {
    /// The surface of a catalog, with nothing accepted yet.
    ///
    /// # Errors
    /// [`NoSurface`] for a catalog that is not complete.
    pub fn of(catalog: &ActionCatalog) -> Result<Self, NoSurface> {
        let (callable, known): (BTreeSet<&ActionId>, BTreeSet<&ActionId>) = catalog
            .ids()
            .into_iter()
            .partition(|id| can_be_called(catalog, id));
        let undescribed: Vec<ActionId> = callable
            .iter()
            .filter(|id| catalog.tool_descriptor_for(id.as_str()).is_none())
            .map(|id| (*id).clone())
            .collect();
        if !undescribed.is_empty() {
            return Err(NoSurface::Undescribed(undescribed));
        }
        let actions = callable
            .into_iter()
            .filter_map(|id| LockedAction::of(catalog, id))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            version: VERSION,
            actions,
            known: known.into_iter().cloned().collect(),
            accepted: Vec::new(),
        })
    }

    /// The entry of an action.
    #[must_use]
    pub fn action(&self, id: &str) -> Option<&LockedAction> {
        self.actions.iter().find(|action| action.id.as_str() == id)
    }

    /// The surface with these entries beside its own.
    #[must_use]
    pub fn and(mut self, entries: Vec<LockedAction>) -> Self {
        self.actions.extend(entries);
        self.actions.sort_by(|one, other| one.id.cmp(&other.id));
        self
    }

    /// The same without the tools of upstreams, and those.
    #[must_use]
    pub fn split(self) -> (Self, Vec<LockedAction>) {
        let actions = self.actions.into_iter();
        let (upstream, actions) = actions.partition(|action| action.upstream.is_some());
        (Self { actions, ..self }, upstream)
    }

    /// The actions that a person accepted and that no agent can call in this catalog: renamed, taken away,
    /// of a crate that is no longer linked, or the control plane's own by now.
    pub fn missing<'a>(&'a self, catalog: &'a ActionCatalog) -> impl Iterator<Item = &'a ActionId> {
        let ids = self.actions.iter().map(|action| &action.id);
        ids.filter(|id| !can_be_called(catalog, id))
    }

    /// This surface with all that was accepted of the `locked` one, and this acceptance of what
    /// changed between them.
    #[must_use]
    pub fn accepted_by(self, locked: &Self, by: &str, reason: &str, at: Timestamp) -> Self {
        let changes = compare(locked, &self);
        let acceptance = Acceptance {
            by: by.to_owned(),
            reason: reason.to_owned(),
            at,
            changes: changes.iter().map(ToString::to_string).collect(),
        };
        let mut accepted = locked.accepted.clone();
        accepted.push(acceptance);
        Self { accepted, ..self }
    }

    /// The text of the file. The same surface has the same text, one thing a line, so that a change is
    /// read in a review as what it is.
    ///
    /// # Errors
    /// [`NotCanonical`] for a descriptor that JSON cannot hold.
    pub fn to_text(&self) -> Result<String, NotCanonical> {
        let mut sorted = self.clone();
        for action in &mut sorted.actions {
            // Some other crate in a build may ask `serde_json` to keep the order of keys.
            action.parameters.sort_all_objects();
            if let Some(output) = &mut action.output {
                output.sort_all_objects();
            }
        }
        Ok(serde_json::to_string_pretty(&sorted)? + "\n")
    }
}

/// Whether some grant could let an agent call it.
fn can_be_called(catalog: &ActionCatalog, id: &ActionId) -> bool {
    let id = id.as_str();
    catalog.is_dispatchable(id) && catalog.class_of(id) != Some(Class::ControlPlane)
}

/// The surface of some actions of a catalog, as far as it describes them; for comparing, and not for a file.
pub(crate) fn surface_of(catalog: &ActionCatalog, ids: &BTreeSet<&ActionId>) -> SurfaceLock {
    let actions = ids.iter().filter_map(|id| LockedAction::of(catalog, id));
    let mut actions: Vec<LockedAction> = actions.filter_map(Result::ok).collect();
    for action in &mut actions {
        // A catalog that was stored has `1` where the one of now may have `1.0`.
        let schemas = [Some(&mut action.parameters), action.output.as_mut()];
        schemas.into_iter().flatten().for_each(without_fractions);
    }
    SurfaceLock {
        version: VERSION,
        actions,
        known: BTreeSet::new(),
        accepted: Vec::new(),
    }
}

impl LockedAction {
    fn of(catalog: &ActionCatalog, id: &ActionId) -> Option<Result<Self, NotCanonical>> {
        let name = id.as_str();
        let tool = catalog.tool_descriptor_for(name)?.clone();
        let entry = Self {
            id: id.clone(),
            tool_name: tool.name,
            title: tool.title,
            description: tool.description,
            approval_required: tool.approval_required,
            selection_token: catalog.selection_token_type_for(name).map(str::to_owned),
            idempotency_key_required: tool.idempotency_key_required,
            non_delegable: catalog.is_non_delegable(name),
            kernel_origin: catalog.is_kernel_origin(name),
            egress: catalog.egress_declaration_for(name).cloned(),
            requirements: catalog.requirements_for(name).cloned().unwrap_or_default(),
            redactions: catalog.redactions_of(name).keys().cloned().collect(),
            hints: tool.hints,
            resource: catalog.resource_of(name).map(ToString::to_string),
            prompt: catalog.is_prompt(name),
            upstream: catalog.upstream_tool_of(name).cloned(),
            parameters: tool.parameters_schema,
            output: tool.output_schema,
            digest: Digest::of_bytes(&[]),
        };
        Some(entry.sealed())
    }

    /// The entry with the digest that fits it.
    ///
    /// # Errors
    /// [`NotCanonical`] for a schema that JSON cannot hold.
    pub fn sealed(self) -> Result<Self, NotCanonical> {
        Ok(Self {
            digest: self.computed_digest()?,
            ..self
        })
    }

    /// The digest that the entry should have.
    fn computed_digest(&self) -> Result<Digest, NotCanonical> {
        let mut entry = serde_json::to_value(self)?;
        if let Some(fields) = entry.as_object_mut() {
            fields.remove("digest");
        }
        Digest::of_json(&entry)
    }
}
