//! The catalog: which actions exist, and what is true of each whoever calls it.
//!
//! It is the kernel's own. No worker, grant or event sets or changes it; it is built before the
//! first request and passed as a value from there on.

mod stored;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use rustc_hash::FxHashMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::authority::{Mandate, WordKind};
use crate::descriptor::ToolDescriptor;
use crate::digest::{Digest, NotCanonical, canonical_json};
use crate::id::ActionId;
use crate::presentation::Rendered;
use crate::provider::{Inexpressible, Provider};
use crate::requirement::{Class, Requirements, folded_role, texts_of};

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
}

impl Entry {
    pub(crate) fn class(&self) -> Option<Class> {
        self.requirements.as_ref()?.class
    }
}

/// Something in a catalog that must be mended before it is used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CatalogFault {
    /// A dispatchable action has no descriptor, or one that has no canonical JSON.
    NoDescriptor(ActionId),
    /// An action has no egress declaration.
    NoEgressDeclaration(ActionId),
    /// Two actions have one tool name.
    SharedToolName {
        /// The name.
        name: String,
        /// Both actions.
        ids: [ActionId; 2],
    },
    /// The tool name is not the one that leads back to the action.
    BadToolName {
        /// The action.
        id: ActionId,
        /// The name.
        name: String,
    },
    /// What an action requires cannot be met, or not be judged.
    Requirement {
        /// The action.
        id: ActionId,
        /// What is wrong, and how to mend it.
        problem: String,
    },
    /// An operation of the control plane has a descriptor, which would tell agents of it.
    ControlPlaneDescribed(ActionId),
    /// The descriptor and the catalog differ on whether a selection token is required.
    SelectionTokenMismatch(ActionId),
}

impl fmt::Display for CatalogFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDescriptor(id) => write!(
                f,
                "`{id}` can be dispatched and has no descriptor; annotate its handler, or give one to `with_tool_descriptors`"
            ),
            Self::NoEgressDeclaration(id) => write!(
                f,
                "`{id}` has no egress declaration, so the gate refuses it; declare what leaves, or that nothing does"
            ),
            Self::SharedToolName {
                name,
                ids: [one, two],
            } => {
                write!(
                    f,
                    "`{one}` and `{two}` both have the tool name `{name}`; rename one"
                )
            }
            Self::BadToolName { id, name } => write!(
                f,
                "`{id}` has the tool name `{name}`, which does not lead back to it; its name is `{}`",
                crate::id::ToolName::of(id)
            ),
            Self::Requirement { id, problem } => write!(f, "`{id}` {problem}"),
            Self::ControlPlaneDescribed(id) => write!(
                f,
                "`{id}` is the control plane's own and has a descriptor, which would tell agents of it; drop the descriptor"
            ),
            Self::SelectionTokenMismatch(id) => write!(
                f,
                "`{id}`: its descriptor and the catalog differ on whether a selection token is required"
            ),
        }
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

    /// All that must be mended, in order; empty for a complete catalog.
    #[must_use]
    pub fn faults(&self) -> Vec<CatalogFault> {
        let mut faults = Vec::new();
        let mut names: BTreeMap<&str, &ActionId> = BTreeMap::new();
        for id in self.ids() {
            let Some(entry) = self.entries.get(id) else {
                continue;
            };
            if entry.egress.is_none() {
                faults.push(CatalogFault::NoEgressDeclaration(id.clone()));
            }
            let tool = entry.tool.as_ref().map(|tool| &tool.descriptor);
            if let Some(required) = &entry.requirements {
                let problems = required.faults(tool.map(|tool| &tool.parameters_schema));
                faults.extend(
                    problems
                        .into_iter()
                        .map(|problem| CatalogFault::Requirement {
                            id: id.clone(),
                            problem,
                        }),
                );
            }
            if entry.class() == Some(Class::ControlPlane) {
                faults.extend(tool.map(|_| CatalogFault::ControlPlaneDescribed(id.clone())));
                continue;
            }
            let Some(tool) = tool else {
                if !entry.undispatchable {
                    faults.push(CatalogFault::NoDescriptor(id.clone()));
                }
                continue;
            };
            if tool.selection_token_required != entry.selection_token_type.is_some() {
                faults.push(CatalogFault::SelectionTokenMismatch(id.clone()));
            }
            if tool.name != crate::id::ToolName::of(id).as_str() {
                faults.push(CatalogFault::BadToolName {
                    id: id.clone(),
                    name: tool.name.clone(),
                });
            }
            if let Some(other) = names.insert(&tool.name, id) {
                faults.push(CatalogFault::SharedToolName {
                    name: tool.name.clone(),
                    ids: [other.clone(), id.clone()],
                });
            }
        }
        faults.sort();
        faults
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
                let told = json!({
                    "descriptor": entry.tool.as_ref().map(|tool| &tool.descriptor),
                    "dispatchable": !entry.undispatchable,
                    "egress": entry.egress,
                    "kernel_origin": entry.kernel_origin,
                    "non_delegable": entry.non_delegable,
                    "selection_token_type": entry.selection_token_type,
                    "requirements": entry.requirements,
                    "redactions": entry.redactions,
                });
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
mod tests {
    use super::*;
    use crate::descriptor::Hints;

    fn id(text: &str) -> ActionId {
        ActionId::parse(text).unwrap()
    }

    fn tool(name: &str) -> ToolDescriptor {
        ToolDescriptor {
            name: name.into(),
            description: "Does.".into(),
            parameters_schema: crate::schema::no_arguments(),
            approval_required: false,
            selection_token_required: false,
            title: None,
            output_schema: None,
            hints: Hints::NONE,
        }
    }

    fn complete() -> ActionCatalog {
        ActionCatalog::new([id("a.b"), id("c"), id("d")])
            .with_tool_descriptors([(id("a.b"), tool("a-b")), (id("c"), tool("c"))].into())
            .with_egress_declarations(
                ["a.b", "c", "d"]
                    .map(|i| (id(i), EgressDeclaration::default()))
                    .into(),
            )
            .with_undispatchable([id("d")].into())
    }

    #[test]
    fn a_complete_catalog_has_no_fault_and_each_removal_is_one() {
        assert_eq!(complete().faults(), []);
        assert_eq!(
            complete()
                .with_tool_descriptors([(id("c"), tool("c"))].into())
                .faults(),
            [CatalogFault::NoDescriptor(id("a.b"))]
        );
        assert_eq!(
            complete().with_undispatchable([].into()).faults(),
            [CatalogFault::NoDescriptor(id("d"))]
        );
        assert_eq!(
            complete()
                .with_egress_declarations([].into())
                .faults()
                .len(),
            3
        );
        assert_eq!(
            complete()
                .with_selection_token_types([(id("c"), "t".into())].into())
                .faults(),
            [CatalogFault::SelectionTokenMismatch(id("c"))]
        );
    }

    #[test]
    fn two_actions_with_one_tool_name_are_a_fault_that_names_both() {
        let catalog = complete()
            .with_tool_descriptors([(id("a.b"), tool("a-b")), (id("c"), tool("a-b"))].into());
        let faults = catalog.faults();
        assert!(faults.contains(&CatalogFault::SharedToolName {
            name: "a-b".into(),
            ids: [id("a.b"), id("c")]
        }));
        assert_eq!(
            faults.len(),
            2,
            "and the second does not lead back to its action"
        );
    }

    #[test]
    fn a_tool_name_leads_back_to_its_action_or_is_a_fault() {
        for bad in ["a_b", "a.b", "A-b", "", "a b", "c"] {
            let catalog = complete()
                .with_tool_descriptors([(id("a.b"), tool(bad)), (id("c"), tool("c"))].into());
            let told = CatalogFault::BadToolName {
                id: id("a.b"),
                name: bad.into(),
            };
            assert!(catalog.faults().contains(&told), "{bad}");
        }
    }

    #[test]
    fn with_replaces_and_ignores_what_does_not_exist() {
        let catalog =
            complete().with_tool_descriptors([(id("c"), tool("c")), (id("z"), tool("z"))].into());
        assert!(
            catalog.tool_descriptor_for("a.b").is_none(),
            "the old descriptor is gone"
        );
        assert!(!catalog.is_known("z") && catalog.tool_descriptor_for("z").is_none());
        assert!(catalog.is_known("d") && !catalog.is_dispatchable("d"));
    }

    #[test]
    fn requirements_are_replaced_whole_and_roles_are_folded() {
        let required = Requirements {
            claims: [" Exact ".to_owned()].into(),
            roles: [" Lead".to_owned(), "LEAD".to_owned()].into(),
            ..Requirements::of(Class::Optional)
        };
        let first = complete().with_requirements(
            [
                (id("c"), required),
                (id("z"), Requirements::of(Class::Always)),
            ]
            .into(),
        );
        let held = first.requirements_for("c").unwrap();
        assert_eq!(held.roles, ["lead".to_owned()].into());
        assert_eq!(held.claims, [" Exact ".to_owned()].into());
        assert!(!first.is_known("z") && first.class_of("z").is_none());

        let always = Requirements::of(Class::Always);
        let nothing = Requirements::default();
        let second =
            first.with_requirements([(id("a.b"), always.clone()), (id("d"), nothing)].into());
        assert_eq!(second.requirements_for("a.b"), Some(&always));
        assert_eq!(second.requirements_for("c"), None, "the old ones are gone");
        assert_eq!(second.requirements_for("d"), None, "nothing is required");
    }

    #[test]
    fn what_is_required_is_checked_against_the_schema_it_is_about() {
        let asks = |name: &str| {
            let required = Requirements {
                interaction: Some(name.to_owned()),
                ..Requirements::of(Class::Always)
            };
            complete().with_requirements([(id("c"), required)].into())
        };
        let faults = asks("kind").faults();
        assert!(
            matches!(&faults[..], [CatalogFault::Requirement { id, problem }] if id.as_str() == "c" && problem.contains("`kind`")),
            "{faults:?}"
        );
        let mut takes_it = tool("c");
        takes_it.parameters_schema = json!({
            "type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"],
        });
        let tools = [(id("a.b"), tool("a-b")), (id("c"), takes_it)].into();
        assert_eq!(asks("kind").with_tool_descriptors(tools).faults(), []);
    }

    #[test]
    fn an_operation_of_the_control_plane_is_a_fault_where_agents_are_told_of_it() {
        let owned = |name: &str| [(id(name), Requirements::of(Class::ControlPlane))].into();
        assert_eq!(
            complete().with_requirements(owned("c")).faults(),
            [CatalogFault::ControlPlaneDescribed(id("c"))]
        );
        assert_eq!(complete().with_requirements(owned("d")).faults(), []);
        // With a handler it needs no descriptor either.
        let handled = complete().with_undispatchable([].into());
        assert_eq!(handled.with_requirements(owned("d")).faults(), []);
    }

    #[test]
    fn the_words_that_are_asked_about_are_those_of_all_actions() {
        let required = |claim: &str, mode: &str| Requirements {
            claims: [claim.to_owned()].into(),
            modes: [mode.to_owned()].into(),
            ..Requirements::of(Class::Optional)
        };
        let asked = complete().with_requirements(
            [
                (id("a.b"), required("read", "test")),
                (id("c"), required("write", "test")),
            ]
            .into(),
        );
        assert_eq!(
            asked.words_asked(WordKind::Claim),
            Some(["read", "write"].into())
        );
        assert_eq!(asked.words_asked(WordKind::Mode), Some(["test"].into()));
        // Where no action is for certain modes, a mode is a word for people; a claim never is.
        assert_eq!(complete().words_asked(WordKind::Mode), None);
        assert_eq!(complete().words_asked(WordKind::Claim), Some([].into()));
    }

    #[test]
    fn ids_can_be_added_as_known_and_change_nothing_that_is_there() {
        let catalog = complete().and_known([id("c"), id("z")]);
        assert!(catalog.is_dispatchable("c") && catalog.tool_descriptor_for("c").is_some());
        assert!(catalog.is_known("z") && !catalog.is_dispatchable("z"));
        assert_eq!(catalog.faults(), []);
    }

    #[test]
    fn the_digest_follows_the_content_alone() {
        let reversed = ActionCatalog::new([id("d"), id("c"), id("a.b")])
            .with_undispatchable([id("d")].into())
            .with_egress_declarations(
                ["d", "c", "a.b"]
                    .map(|i| (id(i), EgressDeclaration::default()))
                    .into(),
            )
            .with_tool_descriptors([(id("c"), tool("c")), (id("a.b"), tool("a-b"))].into());
        assert_eq!(complete().digest().unwrap(), reversed.digest().unwrap());
        let other = complete().with_kernel_origin([id("c")].into());
        assert_ne!(complete().digest().unwrap(), other.digest().unwrap());
    }
}
