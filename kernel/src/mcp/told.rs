//! What an MCP client is told of a call.

use actum::CatalogView;
use actum::content::is_content;
use actum::provider::structured;
use actum::redact::Delivery;
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, MetaObject, Resource};
use serde_json::{Value, json};
use ulid::Ulid;

use super::resources;
use crate::mediate::Answer;
use crate::worker::{MODEL_ONLY, refusal_of};

/// What a task is told whose effects are not real.
const SUPPRESSED: &str = "Nothing was done: the effects of this task are suppressed.";

/// The result of a call that was answered so.
///
/// # Errors
/// What an unknown tool is answered with, for each that the view does not show.
pub(super) fn result(
    answer: Answer,
    name: &str,
    view: &CatalogView<'_>,
) -> Result<CallToolResult, ErrorData> {
    let (result, meta) = match answer {
        // The one place of this door where a secret leaves the kernel: for the model that asked.
        Answer::Done {
            request_id,
            result: Delivery { value, model_only },
        } => {
            let mut meta = json!({"actum/request_id": request_id});
            if let (Some(meta), true) = (meta.as_object_mut(), model_only) {
                meta.insert("actum/result_schema".to_owned(), json!(MODEL_ONLY));
            }
            (shown(value, name, view), meta)
        }
        Answer::Replayed { request_id, result } => {
            let meta = json!({"actum/request_id": request_id, "actum/replayed": true});
            (shown(result, name, view), meta)
        }
        Answer::ApprovalRequired { request_id } => {
            (waits(request_id), json!({"actum/request_id": request_id}))
        }
        Answer::Absent => {
            return Err(ErrorData::invalid_params(
                format!("Unknown tool: {name}"),
                None,
            ));
        }
        Answer::Suppressed => (
            CallToolResult::error(vec![ContentBlock::text(SUPPRESSED)]),
            json!({}),
        ),
        answer => {
            let body = refusal_of(answer, name).body();
            // As text: clients hold structured content against the tool's output schema, whatever else the result says.
            let told = CallToolResult::error(vec![ContentBlock::text(body.to_string())]);
            (told, json!({}))
        }
    };
    let mut result = result;
    result.meta = match meta {
        Value::Object(meta) if !meta.is_empty() => Some(MetaObject(meta)),
        _ => None,
    };
    Ok(result)
}

/// The value of a call that was answered so, for what is read or chosen instead of called.
///
/// # Errors
/// What the client is told instead; `None` where it is to be as if there were no such thing.
pub(super) fn value(answer: Answer, name: &str) -> Result<Value, Option<ErrorData>> {
    match answer {
        // As in `result`: for the model that asked.
        Answer::Done {
            result: Delivery { value, .. },
            ..
        } => Ok(value),
        Answer::Replayed { result, .. } => Ok(result),
        Answer::Absent => Err(None),
        Answer::Suppressed => Err(Some(ErrorData::internal_error(SUPPRESSED, None))),
        Answer::ApprovalRequired { request_id } => {
            let uri = resources::of_call(request_id);
            let told =
                format!("It waits for the owner's approval; what becomes of it is at {uri}.");
            Err(Some(ErrorData::internal_error(told, None)))
        }
        answer => {
            let body = refusal_of(answer, name).body();
            Err(Some(ErrorData::internal_error(
                "It was refused.",
                Some(body),
            )))
        }
    }
}

/// A result as blocks, and by its schema where the tool has one.
fn shown(value: Value, name: &str, view: &CatalogView<'_>) -> CallToolResult {
    let mut tools = view.tools();
    let tool = tools.find(|tool| tool.descriptor().name == name || tool.id().as_str() == name);
    let descriptor = tool.map(|tool| tool.descriptor());
    let schema = descriptor.and_then(|descriptor| descriptor.output_schema.as_ref());
    if schema.is_some_and(is_content) {
        let blocks = value.get("content").cloned().unwrap_or_default();
        if let Ok(blocks) = serde_json::from_value(blocks) {
            return CallToolResult::success(blocks);
        }
    }
    let text = match &value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = descriptor.map(|descriptor| structured(descriptor, value));
    result
}

/// A call that waits, and where it can be followed.
fn waits(request_id: Ulid) -> CallToolResult {
    let uri = resources::of_call(request_id);
    let told = format!(
        "This call waits for the owner's approval, and has not run. What becomes of it is at the resource {uri}."
    );
    let link = Resource::new(uri.clone(), format!("call {request_id}"));
    let mut result = CallToolResult::success(vec![
        ContentBlock::text(told),
        ContentBlock::ResourceLink(link),
    ]);
    result.structured_content = Some(json!({
        "decision": "approval_required",
        "request_id": request_id,
        "resource": uri,
    }));
    result
}
