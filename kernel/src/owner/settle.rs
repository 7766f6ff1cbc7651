//! The door of those who settle calls of unknown outcome.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State as Shared};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::approvals::{ONE_LINE, authenticate, read, told_reason, unknown};
use crate::Kernel;
use crate::reply::{Refusal, json_value};
use crate::request::shaped_body;
use crate::settle::{Finding, Unsettled};

/// What was found out, and how.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindingBody {
    /// What became of it.
    outcome: Finding,
    /// How it was found out, in one line of at most 1,000 bytes.
    #[schemars(length(min = 1, max = 1_000), regex(pattern = ONE_LINE))]
    reason: String,
}

/// `POST /v1/owner/calls/{id}/settle`: a person says what became of a call of unknown outcome.
pub async fn settle(
    Shared(kernel): Shared<Arc<Kernel>>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let by = authenticate(&kernel, &headers)?;
    let FindingBody { outcome, reason } = shaped_body(body, kernel.limits.body_bytes.value).await?;
    let reason = told_reason(Some(reason))?
        .ok_or_else(|| Refusal::invalid("`reason` says how it was found out"))?;
    let id = read(id).ok_or_else(unknown)?;
    let settled = kernel.settle(&by, id, outcome, &reason).await?;
    let state = settled.map_err(unsettled)?;
    let answer = json!({"ok": true, "call": id, "state": state, "reason": reason});
    Ok(json_value(StatusCode::OK, &answer))
}

fn unsettled(why: Unsettled) -> Refusal {
    match why {
        Unsettled::NoCall => unknown(),
        Unsettled::Known(state) => Refusal::new(
            StatusCode::CONFLICT,
            "input_invalid",
            "outcome_known",
            format!(
                "there is nothing to settle: the call is `{}`",
                state.as_str()
            ),
        ),
    }
}
