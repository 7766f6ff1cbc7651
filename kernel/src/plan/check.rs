//! Whether a plan could be carried out as it stands: each step against the grant and the schema, all faults at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use actum::gate::{DenialReason, Evidence, Verdict, exposure, gate};
use actum::schema::ArgumentFault;
use actum::{Call, Caller, ToolName};
use serde_json::Value;
use ulid::Ulid;

use super::{Plan, Step};
use crate::Kernel;
use crate::auth::LiveTask;
use crate::mediate::{Attempt, request};
use crate::store::StoreError;

/// The most faults of a plan that are told.
const MOST: usize = 64;

/// Every fault of a plan. A step is told of what a call of its action would be told, and of nothing else: what the
/// task is not shown does not exist.
pub(crate) async fn faults(
    kernel: &Arc<Kernel>,
    call: &Call,
    plan: &Plan,
) -> Result<Vec<ArgumentFault>, StoreError> {
    let Some(task) = kernel.tasks.live(call.task_id, call.at).await? else {
        return Ok(vec![fault("", "the task is over")]);
    };
    let mut faults = Vec::new();
    let mut tokens = BTreeSet::new();
    for (index, step) in plan.steps.iter().enumerate() {
        let of_step = faults_of(kernel, &task, call, step).await?;
        faults.extend(of_step.into_iter().map(|found| ArgumentFault {
            at: format!("/steps/{index}{}", found.at),
            ..found
        }));
        let token = step.selection_token.as_ref();
        if token.is_some_and(|token| !tokens.insert(token)) {
            let at = format!("/steps/{index}/selection_token");
            faults.push(fault(
                &at,
                "is spent by a step before; a token is good for one call",
            ));
        }
    }
    faults.truncate(MOST);
    Ok(faults)
}

async fn faults_of(
    kernel: &Arc<Kernel>,
    task: &Arc<LiveTask>,
    call: &Call,
    step: &Step,
) -> Result<Vec<ArgumentFault>, StoreError> {
    let action =
        ToolName::to_id(&step.action).map_or_else(|| step.action.clone(), |id| id.to_string());
    if exposure(&task.issued, &kernel.at_hand(), &action).is_err() {
        return Ok(vec![fault("/action", "there is no such operation")]);
    }
    if action == call.action.as_str() {
        return Ok(vec![fault("/action", "a plan has no plan among its steps")]);
    }
    let value = Value::Object(step.arguments.clone());
    match kernel.registry.shown_arguments(&action, value) {
        Ok(shown) if shown.hides => {
            let problem = "hold a secret, which a plan would keep; call the operation by itself";
            return Ok(vec![fault("/arguments", problem)]);
        }
        Ok(_) => {}
        Err(faults) => {
            let placed = faults.into_iter().map(|found| ArgumentFault {
                at: format!("/arguments{}", found.at),
                ..found
            });
            return Ok(placed.collect());
        }
    }
    let presented = step.selection_token.as_deref();
    let presented = presented.and_then(|token| Ulid::from_string(token).ok());
    let stored = kernel.selection(task, presented).await?;
    let request = request(action, step.arguments.clone(), presented, stored.as_ref())?;
    let evidence = Evidence {
        approval: None,
        selection_token: stored.as_ref().map(|selection| &selection.token),
    };
    let action = match gate(&task.grant, &request, &kernel.at_hand(), evidence, call.at) {
        Verdict::Allow(permit) => permit.action().clone(),
        Verdict::ApprovalRequired(action) => action,
        // The plan itself would not be here.
        Verdict::EffectSuppressed => return Ok(Vec::new()),
        Verdict::Deny(reason) => return Ok(vec![denied(reason)]),
    };
    let attempt = Attempt {
        kernel,
        task,
        request: &request,
        keyed: None,
        caller: Caller::nobody(),
        at: call.at,
    };
    // Boxed, since the step's own check could be one of a plan, for all that the compiler knows.
    let found = Box::pin(attempt.checked(&action, stored.as_ref())).await;
    let placed = found.into_iter().map(|found| ArgumentFault {
        at: format!("/arguments{}", found.at),
        ..found
    });
    Ok(placed.collect())
}

fn denied(reason: DenialReason) -> ArgumentFault {
    match reason {
        DenialReason::SelectionTokenInvalid => fault(
            "/selection_token",
            "name an unspent selection token of this task, of the type that this operation takes",
        ),
        DenialReason::CaveatWidening => fault(
            "/arguments",
            "are not among those that the task's grant allows",
        ),
        other => {
            let problem = format!(
                "the task's grant does not allow this call: {}",
                other.as_str()
            );
            fault("", &problem)
        }
    }
}

fn fault(at: &str, problem: &str) -> ArgumentFault {
    ArgumentFault {
        at: at.to_owned(),
        problem: problem.to_owned(),
    }
}
