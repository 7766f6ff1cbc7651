//! Carrying out an approved plan: one call after the other, each on the one path of a call.

use std::sync::Arc;

use actum::{Call, Caller};
use serde_json::json;
use ulid::Ulid;

use super::{Carried, CarriedStep, Plan, Step};
use crate::Kernel;
use crate::calls::State;
use crate::mediate::{Answer, Posted, mediate};
use crate::store::{Decided, NewDecision, StoreError, StoredCall, StoredDecision};

/// Carries out a plan until a step does not succeed.
pub(crate) async fn carry_out(
    kernel: &Arc<Kernel>,
    call: &Call,
    plan: Plan,
) -> Result<Carried, StoreError> {
    let mut steps = Vec::new();
    let mut completed = true;
    for (place, step) in (1..).zip(plan.steps) {
        let action = step.action.clone();
        let (id, state, reason) = match begin(kernel, call, place, step).await? {
            Reached::Call(id) => match kernel.store.call(id).await? {
                Some(stored) => (Some(id), stored.state.as_str(), stored.reason),
                None => return Err(gone(id)),
            },
            Reached::Refused(reason) => (None, State::Refused.as_str(), Some(reason)),
        };
        steps.push(CarriedStep {
            step: place,
            action,
            call: id.map(|id| id.to_string()),
            state: state.to_owned(),
            reason,
        });
        if state != State::Succeeded.as_str() {
            completed = false;
            break;
        }
    }
    Ok(Carried { completed, steps })
}

/// How far a step came.
enum Reached {
    /// It became this call.
    Call(Ulid),
    /// It did not become a call, for this reason.
    Refused(String),
}

async fn begin(
    kernel: &Arc<Kernel>,
    call: &Call,
    place: usize,
    step: Step,
) -> Result<Reached, StoreError> {
    let refused = |reason: &str| Ok(Reached::Refused(reason.to_owned()));
    let Some(task) = kernel.tasks.live(call.task_id, kernel.now()).await? else {
        return refused("grant_expired");
    };
    let posted = Posted {
        action: step.action,
        arguments: step.arguments,
        selection_token: step.selection_token,
        // Should the plan ever be run again, no step of it is.
        idempotency_key: Some(format!("plan:{}:{place}", call.request_id)),
        caller: Caller::nobody(),
    };
    match mediate(kernel, &task, posted).await? {
        Answer::Done { request_id, .. }
        | Answer::Unsupported { request_id, .. }
        | Answer::Replayed { request_id, .. }
        | Answer::NotApproved { request_id, .. } => Ok(Reached::Call(request_id)),
        Answer::ApprovalRequired { request_id } => {
            approve(kernel, call, place, request_id).await?;
            Ok(Reached::Call(request_id))
        }
        Answer::Absent => refused("unknown_operation"),
        Answer::Denied(reason, _) => refused(reason.as_str()),
        Answer::Suppressed => refused("effect_suppressed"),
        Answer::InvalidArguments(_) => refused("input_schema_invalid"),
        Answer::InvalidKey(reason) => refused(reason),
    }
}

/// Gives a step that waits the decisions on its plan, and has it run if they are enough. Where they are worth nothing
/// any more, it goes on waiting for one of its own.
async fn approve(
    kernel: &Arc<Kernel>,
    plan: &Call,
    place: usize,
    id: Ulid,
) -> Result<(), StoreError> {
    let proposed = kernel.store.call(plan.request_id).await?;
    let proposed = proposed.ok_or_else(|| gone(plan.request_id))?;
    if !kernel.is_as_approved(&proposed).await? {
        tracing::warn!(plan = %plan.request_id, step = place, "what a plan was approved with is another by now; its step waits for a decision of its own");
        return Ok(());
    }
    let step = kernel.store.call(id).await?.ok_or_else(|| gone(id))?;
    let Some(binding) = step.waiting.as_ref().map(|waiting| waiting.binding) else {
        return Ok(());
    };
    for of_plan in kernel.store.decisions(plan.request_id).await? {
        if !of_plan.approved {
            continue;
        }
        let at = kernel.now();
        let body = json!({
            "call": id, "task": step.task_id, "action": step.action, "approver": of_plan.approver,
            "binding": binding, "plan": plan.request_id, "step": place,
        });
        let decision = StoredDecision {
            approver: of_plan.approver,
            approved: true,
            reason: Some(format!("step {place} of the plan {}", plan.request_id)),
            binding,
            at: at.to_string(),
        };
        let decided = kernel.store.decide(NewDecision {
            call: id,
            decision,
            quorum: kernel.approvals.quorum.value,
            at,
            body,
        });
        match decided.await? {
            Decided::Stored(State::Approved) => return kernel.run_approved(step).await,
            // More have to approve it, and did so for the plan; or somebody was faster, and decided otherwise.
            Decided::Stored(_) | Decided::Twice | Decided::NotWaiting(_) => {}
        }
    }
    Ok(())
}

fn gone(call: Ulid) -> StoreError {
    StoreError::Unreadable(format!("the call {call} is gone"))
}

/// A plan that was approved, as it was then.
impl Kernel {
    /// Whether all that the approval of a call is bound to is still what it was, and so are the actions that there
    /// are: an approved plan is a word about each action that it names.
    async fn is_as_approved(&self, call: &StoredCall) -> Result<bool, StoreError> {
        let Some(task) = self.tasks.live(call.task_id, self.now()).await? else {
            return Ok(false);
        };
        let is_same = self.binding_holds(call, &task)?;
        Ok(is_same && task.grant.root().catalog_digest == self.catalog_digest)
    }
}
