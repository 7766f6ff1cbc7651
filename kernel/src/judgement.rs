//! A stored call, judged anew before it runs: one that was approved, and one that was cut off.
//!
//! What an approver is shown has a digest, the *binding*: over the action, its descriptor, the arguments, the
//! target, the grant and the revision of the manifests. A decision names the binding that was seen. Before the
//! call runs it is worked out anew from what is stored and loaded then; if it is another, nothing runs.

use std::sync::Arc;

use actum::Digest;
use actum::digest::NotCanonical;
use actum::gate::{
    Approval, Decision, DenialReason, Evidence, Request, SelectionToken, Verdict, gate,
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::Kernel;
use crate::auth::LiveTask;
use crate::calls::State;
use crate::mediate;
use crate::store::{StoreError, StoredCall};

/// All that a decision is bound to.
pub(crate) struct Bound<'a> {
    pub(crate) task: &'a LiveTask,
    pub(crate) action: &'a str,
    /// As they are stored, in canonical form.
    pub(crate) arguments: &'a str,
    pub(crate) sealed: Option<&'a [u8]>,
    pub(crate) target: Option<&'a str>,
}

impl Bound<'_> {
    pub(crate) fn digest(&self, kernel: &Kernel) -> Result<Digest, NotCanonical> {
        let grant = self.task.grant.root();
        let mut bound = json!({
            "action": self.action,
            "descriptor": Digest::of_json(&kernel.catalog.tool_descriptor_for(self.action))?,
            "arguments": Digest::of_bytes(self.arguments.as_bytes()),
            "sealed": self.sealed.map(Digest::of_bytes),
            "target": self.target,
            "grant": Digest::of_json(grant)?,
            "policy": self.task.revision,
        });
        if let (Some(bound), true) = (bound.as_object_mut(), self.task.grant.is_handed_on()) {
            // A lineage shares one root grant; its caveats are each task's own.
            bound.insert("task".to_owned(), json!(self.task.id));
        }
        Digest::of_json(&bound)
    }
}

impl Kernel {
    /// Whether a call that waited is still bound to what it was as it was held.
    pub(crate) fn binding_holds(
        &self,
        call: &StoredCall,
        task: &LiveTask,
    ) -> Result<bool, StoreError> {
        let Some(waiting) = &call.waiting else {
            return Ok(false);
        };
        let target = call.selection.as_ref();
        let bound = Bound {
            task,
            action: &call.action,
            arguments: &call.arguments,
            sealed: call.sealed.as_deref(),
            target: target.map(|selection| selection.target.as_str()),
        };
        Ok(bound.digest(self)? == waiting.binding)
    }

    /// Asks the gate about a stored call that is about to run. One that was approved and is another thing by now is
    /// denied, and what is stored of it is not even opened.
    pub(crate) async fn judge_stored(
        &self,
        call: &StoredCall,
        task: &LiveTask,
        at: Timestamp,
    ) -> Result<(Arc<Request>, Verdict), StoreError> {
        let has_begun = call.state == State::Running;
        // What was in time as the call began serves it to its end.
        let until = match &call.waiting {
            Some(waiting) if !has_begun => waiting.expires_at,
            _ => task.grant.expires_at(),
        };
        let approval = match &call.waiting {
            // It was allowed as it was asked for. Whether it still is, is the gate's to say.
            None if has_begun => None,
            None => {
                let verdict = Verdict::Deny(DenialReason::ApprovalMissing);
                return Ok((request(call, Map::new())?, verdict));
            }
            Some(waiting) => {
                let binding = waiting.binding;
                let decisions = self.store.decisions(call.id).await?;
                let approvals = decisions.iter().filter(|decision| decision.approved);
                if !self.binding_holds(call, task)?
                    || !approvals.clone().all(|one| one.binding == binding)
                {
                    let verdict = Verdict::Deny(DenialReason::ApprovalDigestMismatch);
                    return Ok((request(call, Map::new())?, verdict));
                }
                Some(approvals.count())
            }
        };
        let arguments = match &call.sealed {
            None => call.arguments.as_bytes().to_vec(),
            Some(sealed) => self.sealer.open(call.id, sealed)?,
        };
        let arguments: Map<String, Value> = serde_json::from_slice(&arguments).map_err(|_| {
            StoreError::Unreadable(format!("the arguments of the call {}", call.id))
        })?;
        let request = request(call, arguments)?;
        let quorum = usize::try_from(self.approvals.quorum.value).unwrap_or(usize::MAX);
        let approval = match (approval, request.payload_digest, request.target_digest) {
            (Some(approvals), Some(payload_digest), Some(target_digest)) => Some(Approval {
                decision: match approvals >= quorum {
                    true => Decision::Approved,
                    false => Decision::Rejected,
                },
                expires_at: until,
                payload_digest,
                target_digest,
            }),
            _ => None,
        };
        let token = own_token(call, until);
        let evidence = Evidence {
            approval: approval.as_ref(),
            selection_token: token.as_ref(),
        };
        let verdict = gate(&task.grant, &request, &self.at_hand(), evidence, at);
        Ok((request, verdict))
    }
}

/// A stored call as the gate is asked about it.
pub(crate) fn request(
    call: &StoredCall,
    arguments: Map<String, Value>,
) -> Result<Arc<Request>, StoreError> {
    let selection = call.selection.as_ref();
    let token = selection.map(|selection| selection.token.id);
    mediate::request(call.action.clone(), arguments, token, selection)
}

/// The token that a call spent as it was asked for. It was in time then, and is the call's own from there on.
pub(crate) fn own_token(call: &StoredCall, until: Timestamp) -> Option<SelectionToken> {
    let selection = call.selection.as_ref()?;
    Some(SelectionToken {
        expires_at: until,
        ..selection.token.clone()
    })
}
