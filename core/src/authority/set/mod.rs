//! All manifests of an installation, read and checked together.
//!
//! The folder says what a file is: `routes/`, `agents/`, `workflows/`, `packs/`, `policies/`,
//! `actors/`, `scenarios/`. Reading
//! either gives a set in which every reference leads somewhere, or every fault of every file.

mod artifact;
mod check;
mod listing;

use std::collections::{BTreeMap, BTreeSet};

use super::claims::Mandate;
use super::document::{At, Decode, Fault, Faults, Located, Node, Report, excerpt};
use super::manifest::{
    Actor, AgentManifest, CapabilityPack, Policy, Route, Scenario, WorkflowManifest,
};
use super::terms::Lifecycle;
use crate::digest::Digest;

pub use artifact::{Artifact, Head, is_artifact};
pub use listing::{Listing, Word, WordKind};

/// The id of the policy that takes part in every composition.
pub const GLOBAL_POLICY: &str = "global";
/// The most files of a set.
pub const MAX_FILES: usize = 4096;

/// What a manifest is; its folder says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ManifestKind {
    /// In `routes/`.
    Route,
    /// In `agents/`.
    Agent,
    /// In `workflows/`.
    Workflow,
    /// In `packs/`.
    CapabilityPack,
    /// In `policies/`.
    Policy,
    /// In `actors/`.
    Actor,
    /// In `scenarios/`.
    Scenario,
}

impl ManifestKind {
    const FOLDERS: [(&'static str, Self); 7] = [
        ("routes", Self::Route),
        ("agents", Self::Agent),
        ("workflows", Self::Workflow),
        ("packs", Self::CapabilityPack),
        ("policies", Self::Policy),
        ("actors", Self::Actor),
        ("scenarios", Self::Scenario),
    ];

    /// The kind of the file at `path`, which is `folder/name.yaml`.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        let (folder, name) = path.split_once('/')?;
        let stem = name
            .strip_suffix(".yaml")
            .or_else(|| name.strip_suffix(".yml"))?;
        let plain = !stem.is_empty() && !name.contains('/') && !name.contains(char::is_control);
        Self::of_folder(folder).filter(|_| plain)
    }

    /// The folder of its files.
    #[must_use]
    pub fn folder(self) -> &'static str {
        let known = Self::FOLDERS.iter().find(|(_, kind)| *kind == self);
        known.map_or("", |(folder, _)| folder)
    }

    /// The kind whose files are in this folder.
    #[must_use]
    pub fn of_folder(folder: &str) -> Option<Self> {
        let known = Self::FOLDERS.iter().find(|(known, _)| *known == folder);
        known.map(|(_, kind)| *kind)
    }

    /// What to call it in a sentence.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Route => "route",
            Self::Agent => "agent",
            Self::Workflow => "workflow",
            Self::CapabilityPack => "capability pack",
            Self::Policy => "policy",
            Self::Actor => "actor",
            Self::Scenario => "scenario",
        }
    }
}

/// A manifest and the file it stands in.
#[derive(Debug, Clone, PartialEq)]
struct Filed<T> {
    file: String,
    manifest: T,
}

/// All manifests of an installation.
///
/// INVARIANT: ids are unique within a kind, references lead to manifests of the set, every listed
/// action id is well formed, and there is an active global policy.
#[derive(Debug, Clone)]
pub struct ManifestSet {
    routes: BTreeMap<String, Filed<Route>>,
    agents: BTreeMap<String, Filed<AgentManifest>>,
    workflows: BTreeMap<String, Filed<WorkflowManifest>>,
    packs: BTreeMap<String, Filed<CapabilityPack>>,
    policies: BTreeMap<String, Filed<Policy>>,
    actors: BTreeMap<String, Filed<Actor>>,
    scenarios: BTreeMap<String, Filed<Scenario>>,
    global_policy: Policy,
    revision: Digest,
}

impl ManifestSet {
    /// Reads and checks manifests, given as (path relative to the folder of manifests, text). Paths
    /// have `/` between folder and name; the order does not matter.
    ///
    /// # Errors
    /// Every fault of every file.
    pub fn read<P: AsRef<str>, T: AsRef<str>>(
        files: impl IntoIterator<Item = (P, T)>,
    ) -> Result<Self, Faults> {
        Self::read_with(files, [])
    }

    /// The routes, by id.
    pub fn routes(&self) -> impl Iterator<Item = &Route> {
        self.routes.values().map(|filed| &filed.manifest)
    }

    /// The agents, by id.
    pub fn agents(&self) -> impl Iterator<Item = &AgentManifest> {
        self.agents.values().map(|filed| &filed.manifest)
    }

    /// The workflows, by id.
    pub fn workflows(&self) -> impl Iterator<Item = &WorkflowManifest> {
        self.workflows.values().map(|filed| &filed.manifest)
    }

    /// The capability packs, by id.
    pub fn packs(&self) -> impl Iterator<Item = &CapabilityPack> {
        self.packs.values().map(|filed| &filed.manifest)
    }

    /// A route.
    #[must_use]
    pub fn route(&self, id: &str) -> Option<&Route> {
        self.routes.get(id).map(|filed| &filed.manifest)
    }

    /// An agent.
    #[must_use]
    pub fn agent(&self, id: &str) -> Option<&AgentManifest> {
        self.agents.get(id).map(|filed| &filed.manifest)
    }

    /// A workflow.
    #[must_use]
    pub fn workflow(&self, id: &str) -> Option<&WorkflowManifest> {
        self.workflows.get(id).map(|filed| &filed.manifest)
    }

    /// A capability pack.
    #[must_use]
    pub fn pack(&self, id: &str) -> Option<&CapabilityPack> {
        self.packs.get(id).map(|filed| &filed.manifest)
    }

    /// The agent, the workflow and the capability pack that a route names; `None` unless it names all
    /// three, as every active route that lets events in does.
    #[must_use]
    pub fn manifests_of(
        &self,
        route: &Route,
    ) -> Option<(&AgentManifest, &WorkflowManifest, &CapabilityPack)> {
        Some((
            self.agent(route.agent.as_ref()?)?,
            self.workflow(route.workflow.as_ref()?)?,
            self.pack(route.capability_pack.as_ref()?)?,
        ))
    }

    /// The actors, by id.
    pub fn actors(&self) -> impl Iterator<Item = &Actor> {
        self.actors.values().map(|filed| &filed.manifest)
    }

    /// The scenarios, by id.
    pub fn scenarios(&self) -> impl Iterator<Item = &Scenario> {
        self.scenarios.values().map(|filed| &filed.manifest)
    }

    /// The actor that a principal is.
    #[must_use]
    pub fn actor_of(&self, principal_id: &str) -> Option<&Actor> {
        self.actors()
            .find(|actor| actor.principal_id.value == principal_id)
    }

    /// The scenario that a route names.
    #[must_use]
    pub fn scenario_of(&self, route: &Route) -> Option<&Scenario> {
        let id = route.scenario.as_ref()?;
        self.scenarios.get(id.as_str()).map(|filed| &filed.manifest)
    }

    /// What is left of a mandate by these manifests: its actor may hold less than it did, or be gone.
    #[must_use]
    pub fn left_of(&self, mandate: &Mandate) -> Option<Mandate> {
        let actor = &self.actors.get(&mandate.actor)?.manifest;
        let scenario = &self.scenarios.get(&mandate.scenario)?.manifest;
        Mandate::of(actor, scenario, &self.global_policy)?.meet(mandate)
    }

    /// The policy that takes part in every composition.
    #[must_use]
    pub fn global_policy(&self) -> &Policy {
        &self.global_policy
    }

    /// The digest of all files: of one line `sha256:<hex>  <path>` for each, sorted by path. Any
    /// change of a byte, a name or the set of files changes it.
    #[must_use]
    pub fn revision(&self) -> Digest {
        self.revision
    }
}

/// A set that is being read: manifests by id, and all faults so far.
#[derive(Default)]
struct Draft {
    files: BTreeMap<String, Digest>,
    faults: Vec<Fault>,
    /// What has an artifact in the place of its file.
    standing_in: BTreeSet<(ManifestKind, String)>,
    routes: BTreeMap<String, Filed<Route>>,
    agents: BTreeMap<String, Filed<AgentManifest>>,
    workflows: BTreeMap<String, Filed<WorkflowManifest>>,
    packs: BTreeMap<String, Filed<CapabilityPack>>,
    policies: BTreeMap<String, Filed<Policy>>,
    actors: BTreeMap<String, Filed<Actor>>,
    scenarios: BTreeMap<String, Filed<Scenario>>,
    /// What files that could not be decoded are called, by their name and by the id in them. A
    /// reference to one of them is not dangling: its file is reported already.
    undecoded: Vec<(ManifestKind, String)>,
}

impl Draft {
    fn add(&mut self, path: &str, text: &str) {
        let report = Report::of_file(path);
        if self.files.len() >= MAX_FILES {
            report.fault(
                None,
                "",
                "there are too many files",
                format!("at most {MAX_FILES} are read"),
            );
        } else if self
            .files
            .insert(path.to_owned(), Digest::of_bytes(text.as_bytes()))
            .is_some()
        {
            report.fault(None, "", "this path is given twice", "give each file once");
        } else if let Some(kind) = ManifestKind::of_path(path) {
            self.decode(kind, path, text, &report);
        } else {
            report.fault(
                None,
                "",
                "this is in no known folder",
                "a manifest is routes/*.yaml, agents/*.yaml, workflows/*.yaml, packs/*.yaml, policies/*.yaml, actors/*.yaml or scenarios/*.yaml",
            );
        }
        self.faults.extend(report.into_faults());
    }

    fn decode(&mut self, kind: ManifestKind, path: &str, text: &str, report: &Report) {
        let node = Node::from_yaml(text, report);
        let id = node.as_ref().and_then(|node| node.text_field("id"));
        let taken = id.is_some_and(|id| self.standing_in.contains(&(kind, id.to_owned())));
        if let (Some(node), true) = (&node, taken) {
            Self::read_aside(kind, path, node, report);
            return;
        }
        if node
            .as_ref()
            .is_some_and(|node| self.file(kind, path, &At::root(node, report), report))
        {
            return;
        }
        let stem = path.split(['/', '.']).nth(1);
        self.undecoded
            .extend(stem.into_iter().chain(id).map(|id| (kind, id.to_owned())));
    }

    /// Files a manifest under its id; false when it could not be decoded.
    fn file(&mut self, kind: ManifestKind, path: &str, at: &At<'_>, report: &Report) -> bool {
        match kind {
            ManifestKind::Route => keep(&mut self.routes, path, at, report, |it| &it.id),
            ManifestKind::Agent => keep(&mut self.agents, path, at, report, |it| &it.id),
            ManifestKind::Workflow => keep(&mut self.workflows, path, at, report, |it| &it.id),
            ManifestKind::CapabilityPack => keep(&mut self.packs, path, at, report, |it| &it.id),
            ManifestKind::Policy => keep(&mut self.policies, path, at, report, |it| &it.id),
            ManifestKind::Actor => keep(&mut self.actors, path, at, report, |it| &it.id),
            ManifestKind::Scenario => keep(&mut self.scenarios, path, at, report, |it| &it.id),
        }
    }

    fn finish(mut self) -> Result<ManifestSet, Faults> {
        let found = check::check(&self);
        self.faults.extend(found);
        let global = self
            .policies
            .get(GLOBAL_POLICY)
            .map(|filed| filed.manifest.clone());
        let global = global.filter(|policy| policy.lifecycle_state == Lifecycle::Active);
        match (global, Faults::of(self.faults)) {
            (Some(global_policy), None) => Ok(ManifestSet {
                routes: self.routes,
                agents: self.agents,
                workflows: self.workflows,
                packs: self.packs,
                policies: self.policies,
                actors: self.actors,
                scenarios: self.scenarios,
                global_policy,
                revision: revision(&self.files),
            }),
            (_, Some(faults)) => Err(faults),
            (None, None) => Err(Faults::one(check::no_global_policy())),
        }
    }
}

/// Decodes a manifest and files it under its id; false when it could not be decoded.
fn keep<T: Decode>(
    kept: &mut BTreeMap<String, Filed<T>>,
    path: &str,
    at: &At<'_>,
    report: &Report,
    id_of: impl Fn(&T) -> &Located<String>,
) -> bool {
    let Some(manifest) = T::decode(at) else {
        return false;
    };
    let id = id_of(&manifest).clone();
    if let Some(first) = kept.get(&id.value) {
        report.fault(
            id.position,
            "id",
            format!("`{}` is taken", excerpt(&id)),
            format!(
                "{} has this id already; keep one version, or give it another id",
                first.file
            ),
        );
        return true;
    }
    kept.insert(
        id.value,
        Filed {
            file: path.to_owned(),
            manifest,
        },
    );
    true
}

fn revision(files: &BTreeMap<String, Digest>) -> Digest {
    let lines: String = files
        .iter()
        .map(|(path, digest)| format!("{digest}  {path}\n"))
        .collect();
    Digest::of_bytes(lines.as_bytes())
}

#[cfg(test)]
mod tests;
