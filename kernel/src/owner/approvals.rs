//! The door of those who decide: which calls wait, with all that a decision is bound to, and the decisions.

use std::sync::Arc;

use actum::Digest;
use actum::authority::terms::Relationship;
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State as Shared};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use ulid::Ulid;

use super::change::{self, ToldChange};
use super::rendered::rendered;
use crate::Kernel;
use crate::approval::{Approver, Edited, OWNER, Undecided};
use crate::auth::Secret;
use crate::calls::State;
use crate::openapi::forms::{Id, Sha256, Time};
use crate::reply::{Refusal, json_value};
use crate::request::{bearer, shaped_body};
use crate::store::{StoreError, StoredCall, StoredDecision};

/// The most calls that one answer has.
const PAGE: i64 = 200;
/// Texts of one line.
pub(super) const ONE_LINE: &str = r"^[^\x00-\x1f\x7f-\x9f]*$";
/// The longest reason, in bytes.
const MAX_REASON: usize = 1_000;

pub(super) fn authenticate(kernel: &Kernel, headers: &HeaderMap) -> Result<Approver, Refusal> {
    let presented = bearer(headers).and_then(Secret::parse);
    let presented = presented.ok_or_else(Refusal::unauthenticated)?;
    if kernel.owner_key.fits(&presented) {
        let people = kernel.identities.entries().iter();
        let owners = people.filter(|entry| entry.relationship == Relationship::Owner);
        return Ok(Approver {
            id: OWNER.to_owned(),
            principals: owners.map(|entry| entry.principal_id.to_string()).collect(),
        });
    }
    let others = kernel.approvers.iter();
    // Every key is compared.
    let found = others.fold(None, |found, (id, principal, hash)| {
        match hash.fits(&presented) {
            true => Some(Approver {
                id: id.clone(),
                principals: vec![principal.clone()],
            }),
            false => found,
        }
    });
    found.ok_or_else(Refusal::unauthenticated)
}

/// Which calls.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Which {
    #[serde(default)]
    state: Option<State>,
}

/// `GET /v1/owner/calls?state=STATE`: the calls in a state, those that wait if none is named.
pub async fn list(
    Shared(kernel): Shared<Arc<Kernel>>,
    headers: HeaderMap,
    query: Result<Query<Which>, QueryRejection>,
) -> Result<Response, Refusal> {
    authenticate(&kernel, &headers)?;
    let Query(Which { state }) =
        query.map_err(|rejection| Refusal::invalid(rejection.body_text()))?;
    let mut found = kernel.waiting_calls().await?;
    if let Some(other) = state.filter(|state| *state != State::Pending) {
        found = kernel.store.calls_in(other, PAGE).await?;
    }
    let mut calls = Vec::new();
    for call in found.into_iter().take(PAGE as usize) {
        calls.push(told(&kernel, call).await?);
    }
    Ok(json_value(
        StatusCode::OK,
        &json!({"ok": true, "calls": calls}),
    ))
}

/// `GET /v1/owner/calls/{id}`
pub async fn show(
    Shared(kernel): Shared<Arc<Kernel>>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    authenticate(&kernel, &headers)?;
    let call = match read(id) {
        Some(id) => kernel.call_as_of_now(id).await?,
        None => None,
    };
    let call = call.ok_or_else(unknown)?;
    let told = told(&kernel, call).await?;
    Ok(json_value(
        StatusCode::OK,
        &json!({"ok": true, "call": told}),
    ))
}

/// The calls that wait and are newer than one.
pub(super) async fn newer_than(kernel: &Kernel, last: Ulid) -> Result<Vec<ToldCall>, StoreError> {
    let mut newer = Vec::new();
    for call in kernel.waiting_calls().await? {
        if call.id > last {
            newer.push(told(kernel, call).await?);
        }
    }
    Ok(newer)
}

/// A call with all that a decision on it is bound to, as those who decide are told of it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToldCall {
    /// Its id.
    #[schemars(with = "Id")]
    pub id: Ulid,
    /// Its task.
    #[schemars(with = "Id")]
    pub task_id: Ulid,
    /// Whom the task's grant was issued to.
    pub principal: Option<String>,
    /// What the task is for; of one that was commissioned, in the words of a worker.
    pub purpose: Option<String>,
    /// The task that commissioned it.
    #[schemars(with = "Option<Id>")]
    pub commissioned_by: Option<Ulid>,
    /// What the sender of the task's event wrote: untrusted.
    pub message: Option<String>,
    /// The action.
    pub action: String,
    /// What it does, as a model is told.
    pub description: Option<String>,
    /// The arguments; what is secret in them is hidden.
    pub arguments: Value,
    /// What the arguments come to, as people read it: a draft, or a plan step by step.
    #[serde(default)]
    pub rendered: Option<String>,
    /// Whether something of the arguments is hidden.
    pub hides_secrets: bool,
    /// What the owner selected for it.
    pub target: Option<String>,
    /// Where it stands.
    pub state: State,
    /// Why it was rejected or refused, or is of unknown outcome, or what was said of it when it was settled.
    pub reason: Option<String>,
    /// The call that took its place.
    #[schemars(with = "Option<Id>")]
    pub superseded_by: Option<Ulid>,
    /// When it was asked for, RFC 3339 UTC.
    pub asked_at: String,
    /// Until when it waits.
    #[schemars(with = "Option<Time>")]
    pub expires_at: Option<Timestamp>,
    /// The digest of all of this that a decision is bound to.
    #[schemars(with = "Option<Sha256>")]
    pub binding: Option<Digest>,
    /// What it would change of what is in force, where it is about that and waits.
    pub change: Option<ToldChange>,
    /// The decisions so far.
    pub decisions: Vec<StoredDecision>,
    /// What came out.
    pub result: Option<Value>,
}

async fn told(kernel: &Kernel, call: StoredCall) -> Result<ToldCall, StoreError> {
    let task = kernel.store.task(call.task_id).await?;
    let decisions = kernel.store.decisions(call.id).await?;
    let arguments = serde_json::from_str(&call.arguments)
        .map_err(|error| StoreError::Unreadable(error.to_string()))?;
    let rendered = rendered(kernel, &call, &arguments).await?;
    let tool = kernel.catalog.tool_descriptor_for(&call.action);
    let change = change::of(kernel, &call).await?;
    let waiting = call.waiting.as_ref();
    let root = task.as_ref().map(|task| task.grant.as_issued());
    Ok(ToldCall {
        id: call.id,
        task_id: call.task_id,
        principal: root.map(|root| root.principal.to_string()),
        purpose: task
            .as_ref()
            .map(|task| task.grant.purpose_as_issued().to_owned()),
        commissioned_by: task.as_ref().and_then(|task| task.parent),
        description: tool.map(|tool| tool.description.clone()),
        arguments,
        rendered,
        hides_secrets: call.sealed.is_some(),
        target: call.selection.map(|selection| selection.target),
        state: call.state,
        reason: call.reason,
        superseded_by: call.superseded_by,
        asked_at: call.created_at,
        expires_at: waiting.map(|waiting| waiting.expires_at),
        binding: waiting.map(|waiting| waiting.binding),
        change,
        decisions,
        result: call.result,
        action: call.action,
        message: task.and_then(|task| task.message),
    })
}

/// A decision: what was seen, and why it is so.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecisionBody {
    /// The `binding` of what was seen.
    #[schemars(with = "Sha256")]
    binding: Digest,
    /// Why, in one line of at most 1,000 bytes.
    #[serde(default)]
    #[schemars(length(max = 1_000), regex(pattern = ONE_LINE))]
    reason: Option<String>,
}

/// `POST /v1/owner/calls/{id}/approve`
pub async fn approve(
    Shared(kernel): Shared<Arc<Kernel>>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    decide(&kernel, id, &headers, body, true).await
}

/// `POST /v1/owner/calls/{id}/reject`
pub async fn reject(
    Shared(kernel): Shared<Arc<Kernel>>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    decide(&kernel, id, &headers, body, false).await
}

async fn decide(
    kernel: &Arc<Kernel>,
    id: Result<Path<String>, PathRejection>,
    headers: &HeaderMap,
    body: Body,
    approved: bool,
) -> Result<Response, Refusal> {
    let by = authenticate(kernel, headers)?;
    let DecisionBody { binding, reason } =
        shaped_body(body, kernel.limits.body_bytes.value).await?;
    let reason = told_reason(reason)?;
    let id = read(id).ok_or_else(unknown)?;
    let decided = kernel.decide(&by, id, binding, approved, reason).await?;
    let state = decided.map_err(undecided)?;
    let now = kernel.store.call(id).await?;
    let mut answer = json!({"ok": true, "call": id, "state": state});
    if let (Some(answer), Some(now)) = (answer.as_object_mut(), now) {
        answer.extend(now.result.map(|result| ("result".to_owned(), result)));
        answer.extend(
            now.reason
                .map(|reason| ("reason".to_owned(), reason.into())),
        );
    }
    Ok(json_value(StatusCode::OK, &answer))
}

/// Why somebody decided so, if they say.
pub(super) fn told_reason(reason: Option<String>) -> Result<Option<String>, Refusal> {
    match reason {
        Some(reason) if reason.len() > MAX_REASON || reason.chars().any(char::is_control) => {
            let told = format!("`reason` is one line of at most {MAX_REASON} bytes");
            Err(Refusal::invalid(told))
        }
        reason => Ok(reason.filter(|reason| !reason.trim().is_empty())),
    }
}

/// An edited form of a call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditBody {
    /// The `binding` of what was seen.
    #[schemars(with = "Sha256")]
    binding: Digest,
    /// The arguments of the call that takes its place.
    arguments: Map<String, Value>,
}

/// `POST /v1/owner/calls/{id}/edit`: another call takes its place, and waits.
pub async fn edit(
    Shared(kernel): Shared<Arc<Kernel>>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let by = authenticate(&kernel, &headers)?;
    let EditBody { binding, arguments } = shaped_body(body, kernel.limits.body_bytes.value).await?;
    let id = read(id).ok_or_else(unknown)?;
    let edited = kernel.edit(&by, id, binding, arguments).await?;
    in_its_place(id, edited)
}

/// What was seen.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RenewBody {
    /// The `binding` of what was seen.
    #[schemars(with = "Sha256")]
    binding: Digest,
}

/// `POST /v1/owner/calls/{id}/renew`: the same call takes its place, bound to what is in force now, and waits.
pub async fn renew(
    Shared(kernel): Shared<Arc<Kernel>>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let by = authenticate(&kernel, &headers)?;
    let RenewBody { binding } = shaped_body(body, kernel.limits.body_bytes.value).await?;
    let id = read(id).ok_or_else(unknown)?;
    let renewed = kernel.renew(&by, id, binding).await?;
    in_its_place(id, renewed)
}

fn in_its_place(id: Ulid, edited: Result<Edited, Undecided>) -> Result<Response, Refusal> {
    match edited.map_err(undecided)? {
        Edited::Waiting(new) => Ok(json_value(
            StatusCode::CREATED,
            &json!({"ok": true, "call": new, "instead_of": id, "state": State::Pending}),
        )),
        Edited::Refused(reason) => Err(Refusal::new(
            StatusCode::FORBIDDEN,
            "policy_denied",
            reason.as_str(),
            "the task's grant does not allow the edited call; the one that waits is as it was",
        )),
        Edited::Unfit(faults) => Ok(Refusal::new(
            StatusCode::BAD_REQUEST,
            "input_invalid",
            "input_schema_invalid",
            "the arguments do not fit the tool's parameters; the call that waits is as it was",
        )
        .with("faults", json!(faults))
        .into_response()),
    }
}

pub(super) fn read(id: Result<Path<String>, PathRejection>) -> Option<Ulid> {
    id.ok().and_then(|Path(id)| Ulid::from_string(&id).ok())
}

pub(super) fn unknown() -> Refusal {
    undecided(Undecided::Unknown)
}

fn undecided(why: Undecided) -> Refusal {
    let conflict = |reason, message: String| {
        Refusal::new(StatusCode::CONFLICT, "input_invalid", reason, message)
    };
    match why {
        Undecided::Unknown => Refusal::new(
            StatusCode::NOT_FOUND,
            "input_invalid",
            "unknown_request",
            "there is no such call; `actum approvals` lists those that wait",
        ),
        Undecided::NotWaiting(state) => conflict(
            "not_pending",
            format!(
                "the call does not wait any more: it is `{}`",
                state.as_str()
            ),
        ),
        Undecided::Twice => conflict(
            "decided_already",
            "you have decided on this call; others have to decide now".to_owned(),
        ),
        Undecided::OtherBinding => conflict(
            "approval_digest_mismatch",
            "what waits is not what you saw; look at it again, and decide with its `binding`"
                .to_owned(),
        ),
        Undecided::OwnTask => Refusal::new(
            StatusCode::FORBIDDEN,
            "policy_denied",
            "self_approval_conflict",
            "the task is your own, so somebody else has to decide; an owner without anybody else sets `approvals.solo_owner: true`",
        ),
    }
}
