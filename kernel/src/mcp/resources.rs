//! Resources: what became of a task's calls.

use std::sync::Arc;

use rmcp::model::{
    ErrorData, ReadResourceResponse, ReadResourceResult, ResourceContents, ResourceTemplate,
};
use ulid::Ulid;

use crate::Kernel;
use crate::auth::LiveTask;
use crate::worker::told_call;

/// What the address of a call begins with.
const CALLS: &str = "actum://calls/";

/// The address of a call.
pub(super) fn of_call(id: Ulid) -> String {
    format!("{CALLS}{id}")
}

/// The addresses of all calls.
pub(super) fn calls() -> ResourceTemplate {
    ResourceTemplate::new(format!("{CALLS}{{request_id}}"), "call")
        .with_title("A call of this task")
        .with_description("What became of a call: its state and, once it has ended, its result.")
        .with_mime_type("application/json")
}

/// Reads one. What is another task's is not there.
pub(super) async fn read(
    kernel: &Arc<Kernel>,
    task: &LiveTask,
    uri: &str,
) -> Result<ReadResourceResponse, ErrorData> {
    let id = uri
        .strip_prefix(CALLS)
        .and_then(|id| Ulid::from_string(id).ok());
    let unknown = || ErrorData::resource_not_found("Resource not found", None);
    let told = told_call(kernel, task, id.ok_or_else(unknown)?).await;
    let told = told.map_err(|error| {
        tracing::error!(%error, "the store failed");
        ErrorData::internal_error("the kernel cannot read now; try again later", None)
    })?;
    let text = told.ok_or_else(unknown)?.to_string();
    let contents = ResourceContents::text(text, uri).with_mime_type("application/json");
    Ok(ReadResourceResult::new(vec![contents]).into())
}
