//! Every action that a manifest lists, with the line that lists it.

use super::{Filed, ManifestKind, ManifestSet};
use crate::authority::document::Position;
use crate::authority::manifest::{ActionList, ListKind};

/// One action in one list of one manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listing<'a> {
    /// The action id.
    pub action: &'a str,
    /// What the list does.
    pub kind: ListKind,
    /// What the manifest is.
    pub manifest: ManifestKind,
    /// The manifest's id.
    pub manifest_id: &'a str,
    /// The list's field, such as `denied_actions`.
    pub field: &'static str,
    /// The file.
    pub file: &'a str,
    /// The place in the file.
    pub position: Option<Position>,
}

impl ManifestSet {
    /// Every action of every list of every manifest, active or not, in a stable order.
    ///
    /// A policy's [`ListKind::Allow`] list grants nothing; it narrows what others allow.
    pub fn listings(&self) -> impl Iterator<Item = Listing<'_>> {
        let agents = self.agents.values().flat_map(|filed| {
            of_file(
                ManifestKind::Agent,
                filed,
                &filed.manifest.id,
                filed.manifest.lists(),
            )
        });
        let workflows = self.workflows.values().flat_map(|filed| {
            of_file(
                ManifestKind::Workflow,
                filed,
                &filed.manifest.id,
                filed.manifest.lists(),
            )
        });
        let packs = self.packs.values().flat_map(|filed| {
            of_file(
                ManifestKind::CapabilityPack,
                filed,
                &filed.manifest.id,
                filed.manifest.lists(),
            )
        });
        let bounds = self.packs.values().flat_map(|filed| {
            let of_pack = filed.manifest.bound_arguments.iter();
            of_pack.map(|bound| Listing {
                action: bound.value.action.as_str(),
                kind: ListKind::Bound,
                manifest: ManifestKind::CapabilityPack,
                manifest_id: &filed.manifest.id,
                field: "bound_arguments",
                file: &filed.file,
                position: bound.position,
            })
        });
        let policies = self.policies.values().flat_map(|filed| {
            of_file(
                ManifestKind::Policy,
                filed,
                &filed.manifest.id,
                filed.manifest.lists(),
            )
        });
        agents
            .chain(workflows)
            .chain(packs)
            .chain(bounds)
            .chain(policies)
    }
}

fn of_file<'a, T>(
    manifest: ManifestKind,
    filed: &'a Filed<T>,
    manifest_id: &'a str,
    lists: [ActionList<'a>; 3],
) -> impl Iterator<Item = Listing<'a>> {
    lists.into_iter().flat_map(
        move |ActionList {
                  kind,
                  field,
                  actions,
              }| {
            actions.iter().map(move |listed| Listing {
                action: &listed.id,
                kind,
                manifest,
                manifest_id,
                field,
                file: &filed.file,
                position: listed.position,
            })
        },
    )
}
