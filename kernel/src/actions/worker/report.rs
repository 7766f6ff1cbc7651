//! `worker.report_result` and `worker.failed`: a worker's last word on its task.

use std::collections::BTreeMap;

use actum::{ActionError, Call, action};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::handle::KernelHandle;
use crate::lineage::report_text;
use crate::store::TaskOutcome;

/// What came of the task.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResultReport {
    /// What was done and found, 1 to 4,000 characters.
    #[schemars(length(min = 1, max = 4000))]
    pub summary: String,
    /// More of it, as at most 64 named values.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("maxProperties" = 64))]
    pub data: Option<BTreeMap<String, Value>>,
}

/// Why nothing came of it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureReport {
    /// Why the task could not be done, 1 to 4,000 characters.
    #[schemars(length(min = 1, max = 4000))]
    pub reason: String,
}

/// That the task is over.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ended {
    /// How many tasks that it commissioned were taken back with it.
    pub taken_back: usize,
}

/// Ends the caller's task. Needs no approval: it gives up what the caller has, and tells those who gave it.
#[action(
    id = "worker.report_result",
    title = "Report the result",
    description = "Say what came of your task. This ends it: your token stops working, and so do those of the workers that you commissioned."
)]
pub async fn report_result(
    kernel: &KernelHandle,
    call: &Call,
    report: ResultReport,
) -> Result<Ended, ActionError> {
    let data = report.data.as_ref().map(serde_json::to_value).transpose()?;
    let text = report_text("The task is done.", &report.summary, data.as_ref());
    let end = TaskOutcome::Succeeded;
    let taken_back = kernel.kernel()?.end_task(call, end, &report, text).await?;
    Ok(Ended { taken_back })
}

/// Ends the caller's task as one that failed. Needs no approval, as reporting a result does not.
#[action(
    id = "worker.failed",
    title = "Report failure",
    description = "Say why your task cannot be done. This ends it: your token stops working, and so do those of the workers that you commissioned."
)]
pub async fn failed(
    kernel: &KernelHandle,
    call: &Call,
    report: FailureReport,
) -> Result<Ended, ActionError> {
    let text = report_text("The task failed.", &report.reason, None);
    let end = TaskOutcome::Failed;
    let taken_back = kernel.kernel()?.end_task(call, end, &report, text).await?;
    Ok(Ended { taken_back })
}
