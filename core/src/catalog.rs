//! The catalog: which actions exist, and what is true of each whoever calls it.
//!
//! It is the kernel's own. No worker, grant or event sets or changes it; it is built before the
//! first request and passed as a value from there on.

mod fault;
mod stored;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::authority::{Mandate, WordKind};
use crate::bound::BoundArgument;
use crate::descriptor::ToolDescriptor;
use crate::digest::{Digest, NotCanonical, canonical_json};
use crate::id::ActionId;
use crate::presentation::Rendered;
use crate::provider::{Inexpressible, Provider};
use crate::requirement::{Class, Requirements, folded_role, texts_of};
use crate::resource::UriTemplate;
use crate::upstream::UpstreamTool;

pub use fault::CatalogFault;
pub use stored::UnreadableCatalog;

/// What leaves the kernel when an action runs. An action without a declaration is refused by the
/// gate: silence is not "nothing leaves".
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EgressDeclaration {
    /// The class of outside traffic, such as `search`; `None` for none.
    #[serde(default)]
    pub egress_class: Option<String>,
    /// The output channels it writes to, all of which a grant must have; `None` where output
    /// channels do not apply, while an empty list can never be satisfied.
    #[serde(default)]
    pub output_channels: Option<BTreeSet<String>>,
}

/// What exists.
#[derive(Debug, Clone, Default)]
pub struct ActionCatalog {
    /// The hash is fast and not keyed: what is in here the kernel put in, and nobody else.
    entries: FxHashMap<ActionId, Entry>,
}

/// All that is true of one action.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry {
    pub(crate) tool: Option<Rendered>,
    pub(crate) egress: Option<EgressDeclaration>,
    pub(crate) selection_token_type: Option<String>,
    pub(crate) undispatchable: bool,
    pub(crate) kernel_origin: bool,
    pub(crate) non_delegable: bool,
    /// Boxed, as most actions require nothing.
    pub(crate) requirements: Option<Box<Requirements>>,
    /// Paths, each with what stands there instead.
    pub(crate) redactions: BTreeMap<String, String>,
    /// Boxed, as most actions have no address.
    pub(crate) resource: Option<Box<UriTemplate>>,
    pub(crate) prompt: bool,
    /// Boxed, as most actions are of no upstream.
    pub(crate) upstream: Option<Box<UpstreamTool>>,
}

impl Entry {
    pub(crate) fn class(&self) -> Option<Class> {
        self.requirements.as_ref()?.class
    }

    /// What the arguments of every call are held to, whatever its grant says.
    pub(crate) fn bounds(&self) -> &[BoundArgument] {
        let upstream = self.upstream.as_ref();
        upstream.map_or(&[], |upstream| upstream.bounds.as_slice())
    }
}

impl ActionCatalog {
    /// A catalog in which exactly these ids are known.
    #[must_use]
    pub fn new(known: impl IntoIterator<Item = ActionId>) -> Self {
        Self {
            entries: known.into_iter().map(|id| (id, Entry::default())).collect(),
        }
    }

    /// Replaces every descriptor. Descriptors of unknown ids are ignored: they would describe
    /// what does not exist.
    #[must_use]
    pub fn with_tool_descriptors(
        mut self,
        descriptors: BTreeMap<ActionId, ToolDescriptor>,
    ) -> Self {
        self.replace(descriptors, |entry, new| {
            entry.tool = new.and_then(Rendered::new)
        });
        self
    }

    /// Replaces every egress declaration.
    #[must_use]
    pub fn with_egress_declarations(
        mut self,
        declarations: BTreeMap<ActionId, EgressDeclaration>,
    ) -> Self {
        self.replace(declarations, |entry, new| entry.egress = new);
        self
    }

    /// Replaces which actions require a selection token, and of which type.
    #[must_use]
    pub fn with_selection_token_types(mut self, types: BTreeMap<ActionId, String>) -> Self {
        self.replace(types, |entry, new| entry.selection_token_type = new);
        self
    }

    /// Replaces the set of actions that are known and that nothing dispatches.
    #[must_use]
    pub fn with_undispatchable(mut self, ids: BTreeSet<ActionId>) -> Self {
        self.replace(flags(ids), |entry, new| {
            entry.undispatchable = new.is_some()
        });
        self
    }

    /// Replaces the set of actions that the kernel itself may originate.
    #[must_use]
    pub fn with_kernel_origin(mut self, ids: BTreeSet<ActionId>) -> Self {
        self.replace(flags(ids), |entry, new| entry.kernel_origin = new.is_some());
        self
    }

    /// Replaces the set of actions that no grant may hand on.
    #[must_use]
    pub fn with_non_delegable(mut self, ids: BTreeSet<ActionId>) -> Self {
        self.replace(flags(ids), |entry, new| entry.non_delegable = new.is_some());
        self
    }

    /// Replaces what actions require of an actor: class, claims, roles, modes and policies. Roles are
    /// held as [`folded_role`] gives them, however they are written here.
    #[must_use]
    pub fn with_requirements(mut self, requirements: BTreeMap<ActionId, Requirements>) -> Self {
        self.replace(requirements, |entry, new| {
            let new = new.map(|new| Requirements {
                roles: new.roles.iter().map(|role| folded_role(role)).collect(),
                ..new
            });
            entry.requirements = new.filter(|new| !new.is_empty()).map(Box::new);
        });
        self
    }

    /// Replaces the paths at which actions' arguments and results are redacted, each with the text that
    /// stands there instead. The [registry](crate::Registry) does the redacting.
    #[must_use]
    pub fn with_redactions(
        mut self,
        redactions: BTreeMap<ActionId, BTreeMap<String, String>>,
    ) -> Self {
        self.replace(redactions, |entry, new| {
            entry.redactions = new.unwrap_or_default()
        });
        self
    }

    /// Replaces the addresses at which what actions read can be read.
    #[must_use]
    pub fn with_resources(mut self, resources: BTreeMap<ActionId, UriTemplate>) -> Self {
        self.replace(resources, |entry, new| entry.resource = new.map(Box::new));
        self
    }

    /// Replaces the set of actions that people can choose as prompts.
    #[must_use]
    pub fn with_prompts(mut self, ids: BTreeSet<ActionId>) -> Self {
        self.replace(flags(ids), |entry, new| entry.prompt = new.is_some());
        self
    }

    /// Replaces which actions are tools of other systems, and what their calls are held to.
    #[must_use]
    pub fn with_upstream_tools(mut self, tools: BTreeMap<ActionId, UpstreamTool>) -> Self {
        self.replace(tools, |entry, new| entry.upstream = new.map(Box::new));
        self
    }

    /// The catalog without these ids: nothing in it tells that they ever existed.
    #[must_use]
    pub fn without(&self, absent: &BTreeSet<ActionId>) -> Self {
        let mut left = self.clone();
        left.entries.retain(|id, _| !absent.contains(id));
        left
    }

    /// Adds ids that exist and that nothing dispatches, such as those that an operator's manifests
    /// speak of. An id that is there already stays as it is.
    #[must_use]
    pub fn and_known(mut self, ids: impl IntoIterator<Item = ActionId>) -> Self {
        for id in ids {
            self.entries.entry(id).or_insert_with(|| Entry {
                egress: Some(EgressDeclaration::default()),
                undispatchable: true,
                ..Entry::default()
            });
        }
        self
    }

    fn replace<T>(&mut self, mut new: BTreeMap<ActionId, T>, set: impl Fn(&mut Entry, Option<T>)) {
        for (id, entry) in &mut self.entries {
            set(entry, new.remove(id));
        }
    }

    /// Whether the id exists.
    #[must_use]
    pub fn is_known(&self, id: &str) -> bool {
        self.entries.contains_key(id)
    }

    /// Whether the id exists and something dispatches it.
    #[must_use]
    pub fn is_dispatchable(&self, id: &str) -> bool {
        self.entries
            .get(id)
            .is_some_and(|entry| !entry.undispatchable)
    }

    /// Whether the kernel itself may originate it.
    #[must_use]
    pub fn is_kernel_origin(&self, id: &str) -> bool {
        self.entries
            .get(id)
            .is_some_and(|entry| entry.kernel_origin)
    }

    /// Whether no grant may hand it on.
    #[must_use]
    pub fn is_non_delegable(&self, id: &str) -> bool {
        self.entries
            .get(id)
            .is_some_and(|entry| entry.non_delegable)
    }

    /// The descriptor of an action.
    #[must_use]
    pub fn tool_descriptor_for(&self, id: &str) -> Option<&ToolDescriptor> {
        self.entries
            .get(id)?
            .tool
            .as_ref()
            .map(|tool| &tool.descriptor)
    }

    /// The egress declaration of an action.
    #[must_use]
    pub fn egress_declaration_for(&self, id: &str) -> Option<&EgressDeclaration> {
        self.entries.get(id)?.egress.as_ref()
    }

    /// The type of selection token that an action requires.
    #[must_use]
    pub fn selection_token_type_for(&self, id: &str) -> Option<&str> {
        self.entries.get(id)?.selection_token_type.as_deref()
    }

    /// What an action requires of an actor; `None` where that is nothing.
    #[must_use]
    pub fn requirements_for(&self, id: &str) -> Option<&Requirements> {
        self.entries.get(id)?.requirements.as_deref()
    }

    /// How an actor comes by an action; `None` where by manifests' lists alone.
    #[must_use]
    pub fn class_of(&self, id: &str) -> Option<Class> {
        self.entries.get(id)?.class()
    }

    /// The words of a kind that actions ask about; `None` where any word has a meaning.
    #[must_use]
    pub fn words_asked(&self, kind: WordKind) -> Option<BTreeSet<&str>> {
        let mut words = BTreeSet::new();
        for entry in self.entries.values() {
            let Some(required) = entry.requirements.as_deref() else {
                continue;
            };
            match kind {
                WordKind::Claim => words.extend(required.claims.iter().map(String::as_str)),
                WordKind::Mode => words.extend(required.modes.iter().map(String::as_str)),
                WordKind::Interaction => {
                    let tool = entry.tool.as_ref().zip(required.interaction.as_ref());
                    if let Some((tool, argument)) = tool {
                        words.extend(texts_of(&tool.descriptor.parameters_schema, argument)?);
                    }
                }
            }
        }
        // Without an action that is for certain modes, a mode is a word for people.
        (kind != WordKind::Mode || !words.is_empty()).then_some(words)
    }

    /// The paths at which an action's arguments and results are redacted, each with the text that stands
    /// there instead.
    #[must_use]
    pub fn redactions_of(&self, id: &str) -> &BTreeMap<String, String> {
        static NONE: BTreeMap<String, String> = BTreeMap::new();
        self.entries
            .get(id)
            .map_or(&NONE, |entry| &entry.redactions)
    }

    /// The address at which what an action reads can be read.
    #[must_use]
    pub fn resource_of(&self, id: &str) -> Option<&UriTemplate> {
        self.entries.get(id)?.resource.as_deref()
    }

    /// Whether people can choose it as a prompt.
    #[must_use]
    pub fn is_prompt(&self, id: &str) -> bool {
        self.entries.get(id).is_some_and(|entry| entry.prompt)
    }

    /// The tool of another system that an action is.
    #[must_use]
    pub fn upstream_tool_of(&self, id: &str) -> Option<&UpstreamTool> {
        self.entries.get(id)?.upstream.as_deref()
    }

    /// The actions that a mandate's claims offer.
    #[must_use]
    pub fn offered_to(&self, mandate: &Mandate) -> BTreeSet<ActionId> {
        let offered = self.entries.iter().filter(|(id, entry)| {
            let required = entry.requirements.as_ref();
            !entry.undispatchable && required.is_some_and(|required| mandate.offers(id, required))
        });
        offered.map(|(id, _)| id.clone()).collect()
    }

    pub(crate) fn entry(&self, id: &str) -> Option<(&ActionId, &Entry)> {
        self.entries.get_key_value(id)
    }

    /// Every known id, in order.
    #[must_use]
    pub fn ids(&self) -> BTreeSet<&ActionId> {
        self.entries.keys().collect()
    }

    /// How many ids are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing exists.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The tools that a provider's rules leave no way to say: they are left out of its shape of a
    /// view, and of no other. In the order of providers and ids.
    #[must_use]
    pub fn inexpressible(&self) -> Vec<&Inexpressible> {
        let ids = self.ids();
        let of = |provider: Provider| {
            let shape =
                move |id: &&ActionId| self.entries.get(*id)?.tool.as_ref()?.shape(provider).err();
            ids.iter().filter_map(shape)
        };
        Provider::ALL.into_iter().flat_map(of).collect()
    }

    /// The canonical JSON of the whole catalog, for keeping it by digest.
    ///
    /// # Errors
    /// [`NotCanonical`] for a descriptor that JSON cannot hold.
    pub fn to_canonical_json(&self) -> Result<Vec<u8>, NotCanonical> {
        let entries: BTreeMap<&ActionId, _> = self
            .entries
            .iter()
            .map(|(id, entry)| {
                let mut told = json!({
                    "descriptor": entry.tool.as_ref().map(|tool| &tool.descriptor),
                    "dispatchable": !entry.undispatchable,
                    "egress": entry.egress,
                    "kernel_origin": entry.kernel_origin,
                    "non_delegable": entry.non_delegable,
                    "selection_token_type": entry.selection_token_type,
                    "requirements": entry.requirements,
                    "redactions": entry.redactions,
                });
                if let Some(told) = told.as_object_mut() {
                    // What came in after the first version is written where it is there.
                    let resource = entry.resource.as_ref().map(|it| json!(it.as_str()));
                    let prompt = entry.prompt.then_some(json!(true));
                    let upstream = entry.upstream.as_ref().map(|it| json!(it));
                    let later = [
                        ("resource", resource),
                        ("prompt", prompt),
                        ("upstream", upstream),
                    ];
                    let there = later
                        .into_iter()
                        .filter_map(|(key, it)| Some((key.to_owned(), it?)));
                    told.extend(there);
                }
                (id, told)
            })
            .collect();
        canonical_json(&entries)
    }

    /// The digest of [`to_canonical_json`](Self::to_canonical_json).
    ///
    /// # Errors
    /// [`NotCanonical`] for a descriptor that JSON cannot hold.
    pub fn digest(&self) -> Result<Digest, NotCanonical> {
        Ok(Digest::of_bytes(&self.to_canonical_json()?))
    }
}

fn flags(ids: BTreeSet<ActionId>) -> BTreeMap<ActionId, ()> {
    ids.into_iter().map(|id| (id, ())).collect()
}

#[cfg(test)]
mod tests;
