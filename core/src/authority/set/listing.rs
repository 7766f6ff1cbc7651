//! Every action, and every word of claims, that a manifest lists, with the line that lists it.

use std::collections::BTreeMap;

use super::{Filed, ManifestKind, ManifestSet};
use crate::authority::document::{Located, Position};
use crate::authority::manifest::{ActionList, ListKind};
use crate::bound::BoundArgument;

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
        let scenarios = self.scenarios.values().flat_map(|filed| {
            let denied = filed.manifest.denied_actions.iter();
            denied.map(|listed| Listing {
                action: &listed.id,
                kind: ListKind::Deny,
                manifest: ManifestKind::Scenario,
                manifest_id: &filed.manifest.id,
                field: "denied_actions",
                file: &filed.file,
                position: listed.position,
            })
        });
        agents
            .chain(workflows)
            .chain(packs)
            .chain(bounds)
            .chain(policies)
            .chain(scenarios)
    }

    /// Every bound of every pack, active or not, with its place.
    pub fn bounds(&self) -> impl Iterator<Item = (&BoundArgument, &str, Option<Position>)> {
        self.packs.values().flat_map(|filed| {
            let bounds = filed.manifest.bound_arguments.iter();
            bounds.map(|bound| (&bound.value, filed.file.as_str(), bound.position))
        })
    }

    /// Every claim, mode and interaction kind of every actor, scenario and policy, active or not, in a
    /// stable order.
    pub fn words(&self) -> impl Iterator<Item = Word<'_>> {
        let actors = self.actors.values().flat_map(|filed| {
            let lists = [("claims", WordKind::Claim, filed.manifest.claims.as_slice())];
            words_of(ManifestKind::Actor, filed, &filed.manifest.id, lists)
        });
        let scenarios = self.scenarios.values().flat_map(|filed| {
            let it = &filed.manifest;
            let lists = [
                ("mode", WordKind::Mode, std::slice::from_ref(&it.mode)),
                ("claims", WordKind::Claim, &it.claims),
                ("denied_claims", WordKind::Claim, &it.denied_claims),
                (
                    "interaction_kinds",
                    WordKind::Interaction,
                    &it.interaction_kinds,
                ),
            ];
            words_of(ManifestKind::Scenario, filed, &it.id, lists)
        });
        let policies = self.policies.values().flat_map(|filed| {
            let lists = [(
                "denied_claims",
                WordKind::Claim,
                filed.manifest.denied_claims.as_slice(),
            )];
            words_of(ManifestKind::Policy, filed, &filed.manifest.id, lists)
        });
        actors.chain(scenarios).chain(policies)
    }
}

impl ManifestSet {
    /// The file of a manifest, relative to the folder of manifests.
    #[must_use]
    pub fn file_of(&self, kind: ManifestKind, id: &str) -> Option<&str> {
        fn file<'a, T>(all: &'a BTreeMap<String, Filed<T>>, id: &str) -> Option<&'a str> {
            all.get(id).map(|filed| filed.file.as_str())
        }
        match kind {
            ManifestKind::Route => file(&self.routes, id),
            ManifestKind::Agent => file(&self.agents, id),
            ManifestKind::Workflow => file(&self.workflows, id),
            ManifestKind::CapabilityPack => file(&self.packs, id),
            ManifestKind::Policy => file(&self.policies, id),
            ManifestKind::Actor => file(&self.actors, id),
            ManifestKind::Scenario => file(&self.scenarios, id),
        }
    }
}

/// What a [`Word`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WordKind {
    /// A claim.
    Claim,
    /// A task mode.
    Mode,
    /// A way of turning to a person.
    Interaction,
}

/// One word that actions and manifests have in common, in one manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word<'a> {
    /// What it is.
    pub kind: WordKind,
    /// The word.
    pub text: &'a str,
    /// What the manifest is.
    pub manifest: ManifestKind,
    /// The manifest's id.
    pub manifest_id: &'a str,
    /// The field, such as `denied_claims`.
    pub field: &'static str,
    /// The file.
    pub file: &'a str,
    /// The place in the file.
    pub position: Option<Position>,
}

fn words_of<'a, T, const N: usize>(
    manifest: ManifestKind,
    filed: &'a Filed<T>,
    manifest_id: &'a str,
    lists: [(&'static str, WordKind, &'a [Located<String>]); N],
) -> impl Iterator<Item = Word<'a>> {
    lists.into_iter().flat_map(move |(field, kind, words)| {
        words.iter().map(move |word| Word {
            kind,
            text: word,
            manifest,
            manifest_id,
            field,
            file: &filed.file,
            position: word.position,
        })
    })
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
