//! Changes of artifacts in the database that kernels share; what is asked and changed stands in
//! [`artifacts`](crate::store::artifacts).

use actum::authority::ManifestKind;
use async_trait::async_trait;

use super::change::{Applied, Change, Write};
use crate::ledger::Entry;
use crate::store::StoreError;
use crate::store::artifacts::{NewArtifact, Revocation, Tables as _};

/// What became of a change: with its record, if it was made.
async fn recorded(
    write: &mut Write,
    is_done: bool,
    entry: &Entry,
) -> Result<Applied<bool>, StoreError> {
    if !is_done {
        return Ok(Applied::Unchanged(false));
    }
    write.append(entry).await?;
    Ok(Applied::Changed(true))
}

/// Stores a version as the active one.
pub(super) struct Activate {
    pub(super) new: NewArtifact,
    pub(super) entry: Entry,
}

#[async_trait]
impl Change for Activate {
    type Done = bool;

    async fn apply(&self, write: &mut Write) -> Result<Applied<bool>, StoreError> {
        let is_done = write.tx.activate(&self.new, self.entry.at).await?;
        recorded(write, is_done, &self.entry).await
    }
}

/// Takes the active version back.
pub(super) struct TakeBack {
    pub(super) gone: Revocation,
    pub(super) entry: Entry,
}

#[async_trait]
impl Change for TakeBack {
    type Done = bool;

    async fn apply(&self, write: &mut Write) -> Result<Applied<bool>, StoreError> {
        let is_done = write.tx.take_back_artifact(&self.gone).await?;
        recorded(write, is_done, &self.entry).await
    }
}

/// Notes that the operator shall take the active version over.
pub(super) struct Nominate<'a> {
    pub(super) which: (ManifestKind, &'a str, u32),
    pub(super) reason: &'a str,
    pub(super) entry: Entry,
}

#[async_trait]
impl Change for Nominate<'_> {
    type Done = bool;

    async fn apply(&self, write: &mut Write) -> Result<Applied<bool>, StoreError> {
        let is_done = write.tx.nominate(self.which, self.reason).await?;
        recorded(write, is_done, &self.entry).await
    }
}
