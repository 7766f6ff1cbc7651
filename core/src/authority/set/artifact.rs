//! Manifests that stand in for files: proposed, approved and kept elsewhere.

use std::fmt;

use super::{Draft, ManifestKind, ManifestSet};
use crate::authority::document::{At, Decode, Faults, Located, Node, Report};
use crate::authority::manifest::{
    Actor, AgentManifest, CapabilityPack, Policy, Route, Scenario, WorkflowManifest,
};
use crate::authority::terms::Lifecycle;
use crate::digest::Digest;

/// What a manifest is called as long as it has no version.
const UNNAMED: &str = "manifest";

/// One version of a manifest, which stands in for the file of the same kind and id, or beside all files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// What it is.
    pub kind: ManifestKind,
    /// The id in its text.
    pub id: String,
    /// Its version, from 1.
    pub version: u32,
    /// The manifest, as a file has it.
    pub text: String,
}

/// `artifact agents/helper v3`: what faults and listings name it, as they name a file by its path.
impl fmt::Display for Artifact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind, id, version, ..
        } = self;
        write!(f, "artifact {}/{id} v{version}", kind.folder())
    }
}

/// Whether a name in faults and listings is that of an artifact, and no path of a file.
#[must_use]
pub fn is_artifact(name: &str) -> bool {
    let is_path = name.ends_with(".yaml") || name.ends_with(".yml");
    name.starts_with("artifact ") && !is_path
}

/// What a manifest says of itself, whatever its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Its id.
    pub id: String,
    /// Where it stands.
    pub lifecycle_state: Lifecycle,
}

impl ManifestKind {
    /// Reads a manifest by itself: not whether its references lead anywhere.
    ///
    /// # Errors
    /// Every fault of the text, told as `manifest:LINE:COLUMN: ...`.
    pub fn read_head(self, text: &str) -> Result<Head, Faults> {
        let report = Report::of_file(UNNAMED);
        let node = Node::from_yaml(text, &report);
        let head = node.as_ref().and_then(|node| {
            let at = At::root(node, &report);
            match self {
                Self::Route => head_of(&at, |it: &Route| (&it.id, it.lifecycle_state)),
                Self::Agent => head_of(&at, |it: &AgentManifest| (&it.id, it.lifecycle_state)),
                Self::Workflow => {
                    head_of(&at, |it: &WorkflowManifest| (&it.id, it.lifecycle_state))
                }
                Self::CapabilityPack => {
                    head_of(&at, |it: &CapabilityPack| (&it.id, it.lifecycle_state))
                }
                Self::Policy => head_of(&at, |it: &Policy| (&it.id, it.lifecycle_state)),
                Self::Actor => head_of(&at, |it: &Actor| (&it.id, it.lifecycle_state)),
                Self::Scenario => head_of(&at, |it: &Scenario| (&it.id, it.lifecycle_state)),
            }
        });
        report.finish(head)
    }
}

fn head_of<T: Decode>(
    at: &At<'_>,
    of: impl FnOnce(&T) -> (&Located<String>, Lifecycle),
) -> Option<Head> {
    let manifest = T::decode(at)?;
    let (id, lifecycle_state) = of(&manifest);
    Some(Head {
        id: id.value.clone(),
        lifecycle_state,
    })
}

impl ManifestSet {
    /// [`read`](Self::read), with artifacts in the place of files. A file whose place is taken is still held to the
    /// rules of its own text.
    ///
    /// # Errors
    /// Every fault of every file and artifact.
    pub fn read_with<'a, P: AsRef<str>, T: AsRef<str>>(
        files: impl IntoIterator<Item = (P, T)>,
        artifacts: impl IntoIterator<Item = &'a Artifact>,
    ) -> Result<Self, Faults> {
        let mut draft = Draft::default();
        for artifact in artifacts {
            draft.stand_in(artifact);
        }
        for (path, text) in files {
            draft.add(path.as_ref(), text.as_ref());
        }
        draft.finish()
    }
}

impl Draft {
    fn stand_in(&mut self, artifact: &Artifact) {
        let name = artifact.to_string();
        let report = Report::of_file(&name);
        let digest = Digest::of_bytes(artifact.text.as_bytes());
        self.files.insert(name.clone(), digest);
        self.decode(artifact.kind, &name, &artifact.text, &report);
        self.standing_in
            .insert((artifact.kind, artifact.id.clone()));
        self.faults.extend(report.into_faults());
    }

    /// Reads a file whose place is taken: for its faults, and for nothing else.
    pub(super) fn read_aside(kind: ManifestKind, path: &str, node: &Node, report: &Report) {
        Self::default().file(kind, path, &At::root(node, report), report);
    }
}
