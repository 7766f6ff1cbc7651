//! `openspine.overlay.export` and `openspine.overlay.restore`: all active artifacts as one archive.

use actum::authority::ManifestKind;
use actum::schema::ArgumentFault;
use actum::{ActionError, Call, Caller, action};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::artifact::{self, Artifacts};
use crate::handle::KernelHandle;
use crate::mediate::{Answer, Posted, mediate};
use crate::overlay::{Kept, Overlay};

/// Reads all active artifacts. Needs no approval: it changes nothing, and whom it is granted to may see what is in force.
#[action(
    id = "openspine.overlay.export",
    title = "Export the overlay",
    description = "Read every manifest that was proposed and approved and is in force, as one archive with digests and a signature.",
    read_only,
    idempotent,
    non_delegable
)]
pub async fn export(artifacts: &Artifacts) -> Result<Overlay, ActionError> {
    let in_force = &artifacts.0;
    let mut overlay = Overlay::of(&in_force.up_to_date().await?.artifacts)?;
    overlay.signature = in_force.store().sign(&overlay.signed_text()).await?;
    Ok(overlay)
}

/// An archive, as it was exported.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Restore {
    /// The archive.
    archive: Overlay,
}

/// What was asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Restoring {
    /// The proposals that wait for the owner.
    pub waiting: Vec<Filed>,
    /// The manifests that are in force as they are in the archive.
    pub unchanged: Vec<String>,
    /// The manifests that could not be proposed.
    pub refused: Vec<String>,
}

/// A proposal that waits.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Filed {
    /// The manifest, by folder and id.
    pub manifest: String,
    /// The call that waits.
    pub request_id: String,
}

/// Proposes what an archive has and is not in force. Needs no approval of its own: each proposal is a call of
/// `artifact.propose` that waits for one.
#[action(
    id = "openspine.overlay.restore",
    title = "Restore an overlay",
    description = "Ask the owner, one by one, to put the manifests of an exported archive in force that are not.",
    non_delegable,
    check = can_be_restored
)]
pub async fn restore(
    artifacts: &Artifacts,
    handle: &KernelHandle,
    call: &Call,
    ask: Restore,
) -> Result<Restoring, ActionError> {
    let kernel = handle.kernel()?;
    let task = kernel.tasks.live(call.task_id, kernel.now()).await?;
    let task = task.ok_or_else(|| ActionError::failed("the task is over"))?;
    let current = artifacts.0.up_to_date().await?;
    let mut done = Restoring {
        waiting: Vec::new(),
        unchanged: Vec::new(),
        refused: Vec::new(),
    };
    for kept in &ask.archive.artifacts {
        let kind = ManifestKind::from(kept.kind);
        let manifest = format!("{}/{}", kind.folder(), kept.id);
        if current.text(kind, &kept.id) == Some(kept.text.as_str()) {
            done.unchanged.push(manifest);
            continue;
        }
        match mediate(&kernel, &task, proposal(kept)).await? {
            Answer::ApprovalRequired { request_id } => done.waiting.push(Filed {
                manifest,
                request_id: request_id.to_string(),
            }),
            Answer::InvalidArguments(faults) => {
                let told: Vec<String> = faults.into_iter().map(|fault| fault.problem).collect();
                done.refused
                    .push(format!("{manifest}: {}", told.join("; ")));
            }
            _ => done
                .refused
                .push(format!("{manifest}: it may not be proposed in this task")),
        }
    }
    Ok(done)
}

fn proposal(kept: &Kept) -> Posted {
    let (action, arguments) = artifact::proposal(
        kept.kind,
        &kept.text,
        &format!("Restored from an archive, version {}.", kept.version),
    );
    Posted {
        action,
        arguments,
        selection_token: None,
        idempotency_key: None,
        caller: Caller::nobody(),
    }
}

/// Whether the archive is what was exported.
async fn can_be_restored(
    artifacts: &Artifacts,
    _: &KernelHandle,
    _: &Call,
    ask: &Restore,
) -> Result<Vec<ArgumentFault>, ActionError> {
    let archive = &ask.archive;
    let mut faults = archive.faults();
    if archive.signature.is_some() {
        // Signatures of Ed25519 are the same each time: this kernel's own is the one that it would give again.
        let own = artifacts.0.store().sign(&archive.signed_text()).await?;
        if own != archive.signature {
            faults.push(ArgumentFault {
                at: "/archive/signature".to_owned(),
                problem: "is not this kernel's over this root; of another kernel, leave it out once its archive was verified (`actum artifacts verify`)".to_owned(),
            });
        }
    }
    Ok(faults)
}
