//! What must be mended in a catalog before it is used.

use std::collections::BTreeMap;
use std::fmt;

use super::ActionCatalog;
use crate::id::ActionId;
use crate::requirement::Class;

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
}
