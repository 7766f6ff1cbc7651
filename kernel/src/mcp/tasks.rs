//! Calls as tasks of the extension `io.modelcontextprotocol/tasks` (SEP-2663): a client that knows it follows a call
//! that waits by `tasks/get`, and takes it back by `tasks/cancel`. The id of a task there is that of the call.

use std::sync::Arc;

use actum::{ActionId, ToolName, project};
use jiff::Timestamp;
use rmcp::model::{
    CallToolResult, ContentBlock, CreateTaskResult, DetailedTask, ErrorData, Task, TaskPayload,
    TaskStatus,
};
use serde_json::Value;

use super::server::Context;
use super::{resources, told};
use crate::Kernel;
use crate::auth::LiveTask;
use crate::calls::State;
use crate::mediate::Answer;
use crate::store::StoredCall;
use crate::worker;

/// How often a client is asked to look, in milliseconds.
const LOOK_MS: u64 = 2_000;
/// The most calls in a row that took the place of one another.
const MOST_INSTEAD: usize = 32;

/// Whether a client knows the extension.
pub(super) fn are_known(context: &Context) -> bool {
    let can = context.client_capabilities();
    can.is_some_and(|can| can.supports_tasks())
}

/// What the client is told of a call that began to wait.
///
/// # Errors
/// That the store could not say.
pub(super) async fn begun(
    kernel: &Arc<Kernel>,
    task: &LiveTask,
    id: &str,
) -> Result<CreateTaskResult, ErrorData> {
    let found = found(kernel, task, id).await?;
    Ok(CreateTaskResult::new(of_call(task, id, &found)))
}

/// How a call stands, and what came of it.
///
/// # Errors
/// That the task has no such call, or that the store could not say.
pub(super) async fn get(
    kernel: &Arc<Kernel>,
    task: &LiveTask,
    id: &str,
) -> Result<DetailedTask, ErrorData> {
    let found = found(kernel, task, id).await?;
    let told = of_call(task, id, &found);
    let payload = match found.state {
        State::Pending | State::Approved | State::Running => TaskPayload::Working,
        State::Cancelled => TaskPayload::Cancelled,
        _ => TaskPayload::Completed {
            result: ended(kernel, task, found)?,
        },
    };
    Ok(DetailedTask::new(told, payload))
}

/// Takes a call back that waits. One that does not wait any more goes on.
///
/// # Errors
/// As [`get`].
pub(super) async fn cancel(
    kernel: &Arc<Kernel>,
    task: &LiveTask,
    id: &str,
) -> Result<(), ErrorData> {
    let found = found(kernel, task, id).await?;
    let cancelled = kernel.cancel(&found).await;
    cancelled.map(drop).map_err(resources::unreadable)
}

/// The call of an id, or the one that took its place.
///
/// # Errors
/// As [`get`].
pub(super) async fn found(
    kernel: &Arc<Kernel>,
    task: &LiveTask,
    id: &str,
) -> Result<StoredCall, ErrorData> {
    let unknown = || ErrorData::invalid_params("Task not found", None);
    let mut next = id.parse().map_err(|_| unknown())?;
    for _ in 0..MOST_INSTEAD {
        let call = kernel.call_of(task, next).await;
        let call = call.map_err(resources::unreadable)?.ok_or_else(unknown)?;
        match call.superseded_by {
            Some(other) => next = other,
            None => return Ok(call),
        }
    }
    Err(unknown())
}

fn of_call(task: &LiveTask, id: &str, call: &StoredCall) -> Task {
    let status = TaskStatus::Working;
    let told = Task::new(id, status, call.created_at.clone(), call.updated_at.clone());
    let mut told = told.with_poll_interval_ms(LOOK_MS);
    told.status_message = Some(match call.state {
        State::Pending => "It waits for the owner's approval.".to_owned(),
        state => match &call.reason {
            Some(reason) => format!("{}: {reason}", state.as_str()),
            None => state.as_str().to_owned(),
        },
    });
    // Nobody asks with the task's token after its end.
    if let Ok(begun) = call.created_at.parse::<Timestamp>() {
        let time = task.grant.expires_at().duration_since(begun);
        told.ttl_ms = u64::try_from(time.as_millis()).ok();
    }
    told
}

/// What a call that has ended is answered with.
fn ended(
    kernel: &Kernel,
    task: &LiveTask,
    call: StoredCall,
) -> Result<rmcp::model::JsonObject, ErrorData> {
    let catalog = kernel.at_hand();
    let name = match ActionId::parse(&call.action) {
        Ok(id) => ToolName::of(&id).to_string(),
        Err(_) => call.action.clone(),
    };
    let result = match (call.state, &call.result) {
        (State::Succeeded, Some(result)) => {
            let answer = Answer::Replayed {
                request_id: call.id,
                result: result.clone(),
            };
            told::result(answer, &name, &project(&task.grant, &catalog))?
        }
        _ => CallToolResult::error(vec![ContentBlock::text(worker::told(call).to_string())]),
    };
    match serde_json::to_value(result) {
        Ok(Value::Object(result)) => Ok(result),
        _ => Err(ErrorData::internal_error(
            "the result could not be told",
            None,
        )),
    }
}
