//! All active artifacts as one archive that is verified without the kernel.
//!
//! Its root is the digest of the canonical JSON of its artifacts. Where the ledger has a notary, the root is signed with
//! its key, as a signed note (<https://c2sp.org/signed-note>) of two lines. No such note is a checkpoint: the first line
//! of one is the log's origin, and its second a number.

use actum::Digest;
use actum::authority::{Artifact, ManifestKind};
use actum::schema::ArgumentFault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actions::artifact::ArtifactKind;
use crate::ledger::checkpoint::PublicKey;

/// What an archive says it is, and the first line of what is signed.
pub const FORMAT: &str = "actum.overlay/1";

/// The active artifacts of a kernel.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    /// `actum.overlay/1`.
    #[schemars(length(min = 1, max = 64))]
    pub format: String,
    /// The artifacts, at most 200.
    #[schemars(length(max = 200))]
    pub artifacts: Vec<Kept>,
    /// The digest of the canonical JSON of `artifacts`.
    #[schemars(length(min = 71, max = 71))]
    pub root: String,
    /// The root, signed with the key of the kernel's ledger; left out where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2000))]
    pub signature: Option<String>,
}

/// One artifact.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// What the manifest is.
    pub(crate) kind: ArtifactKind,
    /// Its id.
    #[schemars(length(min = 1, max = 128))]
    pub id: String,
    /// The version that it had.
    #[schemars(range(min = 1))]
    pub version: u32,
    /// The manifest, as YAML.
    #[schemars(length(min = 1, max = 32000))]
    pub text: String,
    /// The digest of the text.
    #[schemars(length(min = 71, max = 71))]
    pub digest: String,
}

impl Overlay {
    /// The archive of these artifacts, not yet signed.
    ///
    /// # Errors
    /// [`actum::digest::NotCanonical`] for what has no canonical JSON.
    pub(crate) fn of(artifacts: &[Artifact]) -> Result<Self, actum::digest::NotCanonical> {
        let kept = artifacts.iter().map(|artifact| Kept {
            kind: artifact.kind.into(),
            id: artifact.id.clone(),
            version: artifact.version,
            text: artifact.text.clone(),
            digest: Digest::of_bytes(artifact.text.as_bytes()).to_string(),
        });
        let artifacts: Vec<Kept> = kept.collect();
        Ok(Self {
            format: FORMAT.to_owned(),
            root: Digest::of_json(&artifacts)?.to_string(),
            artifacts,
            signature: None,
        })
    }

    /// What its signature is over.
    pub(crate) fn signed_text(&self) -> String {
        format!("{FORMAT}\n{}\n", self.root)
    }

    /// Every way in which it does not agree with itself.
    #[must_use]
    pub fn faults(&self) -> Vec<ArgumentFault> {
        let mut found = Vec::new();
        let mut tell = |at: String, problem: String| found.push(ArgumentFault { at, problem });
        if self.format != FORMAT {
            tell("/format".to_owned(), format!("is `{FORMAT}`"));
        }
        for (index, kept) in self.artifacts.iter().enumerate() {
            let at = |field: &str| format!("/artifacts/{index}/{field}");
            if kept.digest != Digest::of_bytes(kept.text.as_bytes()).to_string() {
                tell(at("digest"), "is not that of the text".to_owned());
            }
            let kind = ManifestKind::from(kept.kind);
            if kind
                .read_head(&kept.text)
                .is_ok_and(|head| head.id != kept.id)
            {
                tell(at("id"), "is not that in the text".to_owned());
            }
        }
        if Digest::of_json(&self.artifacts)
            .ok()
            .map(|root| root.to_string())
            != Some(self.root.clone())
        {
            tell(
                "/root".to_owned(),
                "is not the digest of the artifacts".to_owned(),
            );
        }
        found
    }

    /// Whether its signature is this key's, over this root.
    ///
    /// # Errors
    /// In words, what is wrong with it.
    pub fn verify_signature(&self, key: &PublicKey) -> Result<(), String> {
        let note = self.signature.as_ref().ok_or("it is not signed")?;
        let text = key.signed_text(note).map_err(|why| why.to_string())?;
        match text == self.signed_text() {
            true => Ok(()),
            false => Err("what is signed is another root".to_owned()),
        }
    }
}
