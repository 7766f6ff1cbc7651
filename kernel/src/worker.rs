//! The worker's door: its task, its calls. Everything it answers is built from the presented
//! token's view and the verdict.

use std::fmt::Write as _;
use std::sync::Arc;

use actum::gate::DenialReason;
use actum::provider::Provider;
use actum::redact::Delivery;
use actum::{ActionCatalog, Caller, CatalogView, project};
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use ulid::Ulid;

use crate::Kernel;
use crate::auth::LiveTask;
use crate::calls;
use crate::mediate::{Answer, Posted, mediate};
use crate::replay;
use crate::reply::{Refusal, json_text, json_value};
use crate::request::{bearer, shaped_body};
use crate::store::{StoreError, StoredCall};
use crate::views::{Form, Written};

/// What an answer with a secret in it says of its result: give it to the model, and neither log nor
/// keep it. What the kernel stores of it is redacted, and is never called this.
pub const MODEL_ONLY: &str = "actum:model-only-result/1";

/// A call, as it is posted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallBody {
    /// The action's id, or its tool's name.
    action: String,
    /// The arguments, as the tool's parameters say.
    #[serde(default)]
    arguments: Map<String, Value>,
    /// What the owner selected, for a tool that requires it.
    #[serde(default)]
    selection_token: Option<String>,
    /// Under one key a call runs once: 1 to 128 visible ASCII characters.
    #[serde(default)]
    #[schemars(regex(pattern = r"^[!-~]{1,128}$"))]
    idempotency_key: Option<String>,
}

/// The task whose token a request presents.
pub(crate) async fn authenticate(
    kernel: &Kernel,
    headers: &HeaderMap,
) -> Result<Arc<LiveTask>, Refusal> {
    let Some(token) = bearer(headers) else {
        return Err(Refusal::unauthenticated());
    };
    kernel
        .tasks
        .authenticate(token, kernel.now())
        .await?
        .ok_or_else(Refusal::unauthenticated)
}

/// How a worker wants its task told.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskQuery {
    tools: Option<String>,
}

/// `GET /v1/task`, `GET /v1/task?tools=PROVIDER`
pub async fn task(
    State(kernel): State<Arc<Kernel>>,
    headers: HeaderMap,
    query: Result<Query<TaskQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let task = authenticate(&kernel, &headers).await?;
    let Ok(Query(query)) = query else {
        let takes = "this path takes `tools=PROVIDER`, once, and nothing else";
        return Err(Refusal::invalid(takes));
    };
    let provider = query
        .tools
        .map(|name| name.parse())
        .transpose()
        .map_err(|_| Refusal::invalid(format!("`tools` is one of {}", names())))?;
    let catalog = kernel.at_hand();
    let told = match kernel.told_commissioned(&task).await? {
        commissioned if commissioned.is_empty() => {
            let write = || Written {
                text: task_json(&task, &catalog, provider, commissioned).into(),
                next: None,
            };
            let form = Form::Task(provider);
            kernel.views.of(&task, &catalog, form, write).text
        }
        commissioned => task_json(&task, &catalog, provider, commissioned).into(),
    };
    Ok(json_text(StatusCode::OK, told))
}

fn names() -> String {
    Provider::ALL.map(Provider::as_str).join(", ")
}

/// The task with its view, and what it commissioned.
fn task_json(
    task: &LiveTask,
    catalog: &ActionCatalog,
    provider: Option<Provider>,
    commissioned: Vec<Value>,
) -> String {
    let view = project(&task.grant, catalog);
    let mut out = head_json(task, &view);
    out.reserve(view.tools_len() + 2);
    match provider {
        None => view.write_tools(&mut out),
        Some(provider) => {
            let left_out: Vec<_> = view
                .write_tools_for(provider, &mut out)
                .into_iter()
                .map(|problem| json!({"name": problem.tool, "problem": problem.to_string()}))
                .collect();
            if !left_out.is_empty() {
                let _ = write!(out, ",\"left_out\":{}", Value::Array(left_out));
            }
        }
    }
    out.push('}');
    if !commissioned.is_empty() {
        let _ = write!(out, ",\"commissioned\":{}", Value::Array(commissioned));
    }
    out.push('}');
    out
}

/// What stands before the tools: an object, and the catalog in it, both left open.
fn head_json(task: &LiveTask, view: &CatalogView) -> String {
    let head = json!({
        "expires_at": task.grant.expires_at(),
        "limits": task.grant.limits(),
        "message": task.message,
        "purpose": task.grant.purpose(),
        "selection_tokens": task
            .grant
            .selection_tokens()
            .iter()
            .map(|(id, token_type)| json!({"token": id, "type": token_type}))
            .collect::<Vec<_>>(),
        "task_id": task.id,
    });
    let mut out = head.to_string();
    // The head is an object: its closing brace makes room for one more member.
    out.pop();
    let _ = write!(
        out,
        ",\"catalog\":{{\"digest\":\"{}\",\"tools\":",
        view.digest()
    );
    out
}

/// `POST /v1/actions`
pub async fn call(
    State(kernel): State<Arc<Kernel>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let task = authenticate(&kernel, &headers).await?;
    let body: CallBody = shaped_body(body, kernel.limits.body_bytes.value).await?;
    if body
        .idempotency_key
        .as_deref()
        .is_some_and(|key| !replay::is_key(key))
    {
        return Err(Refusal::invalid(format!(
            "`idempotency_key` is 1 to {} visible ASCII characters, such as a UUID",
            replay::MAX_KEY
        )));
    }
    let operation = body.action.clone();
    let posted = Posted {
        action: body.action,
        arguments: body.arguments,
        selection_token: body.selection_token,
        idempotency_key: body.idempotency_key,
        caller: Caller::nobody(),
    };
    let answer = mediate(&kernel, &task, posted).await?;
    Ok(answered(answer, &operation))
}

fn answered(answer: Answer, operation: &str) -> Response {
    match answer {
        Answer::Done { request_id, result } => done(request_id, result),
        Answer::Replayed { request_id, result } => json_value(
            StatusCode::OK,
            &json!({
                "ok": true,
                "request_id": request_id,
                "decision": "allowed",
                "replayed": true,
                "result": result,
            }),
        ),
        Answer::ApprovalRequired { request_id } => json_value(
            StatusCode::ACCEPTED,
            &json!({
                "ok": true,
                "request_id": request_id,
                "decision": "approval_required",
                "status_url": format!("/v1/actions/{request_id}"),
            }),
        ),
        Answer::Suppressed => json_value(
            StatusCode::OK,
            &json!({"ok": true, "decision": "effect_suppressed"}),
        ),
        answer => refusal_of(answer, operation).into_response(),
    }
}

/// The refusal that an answer is, by whatever door it is told; of one that is none, that nothing came of it.
pub(crate) fn refusal_of(answer: Answer, operation: &str) -> Refusal {
    let refusal = match answer {
        Answer::NotApproved { request_id, reason } => Refusal::new(
            StatusCode::FORBIDDEN,
            "policy_denied",
            reason.as_str(),
            "the owner did not approve it when it was first asked for; under another idempotency key it is another call",
        )
        .with("request_id", json!(request_id)),
        Answer::InvalidKey(reason) => invalid_key(reason),
        Answer::Absent => absent(),
        Answer::Denied(reason, claims) => {
            let refusal = Refusal::new(
                StatusCode::FORBIDDEN,
                "policy_denied",
                reason.as_str(),
                denial_message(reason),
            );
            match claims {
                Some(claims) => refusal.authorized_by(json!(claims)),
                None => refusal,
            }
        }
        Answer::InvalidArguments(faults) => Refusal::new(
            StatusCode::BAD_REQUEST,
            "input_invalid",
            "input_schema_invalid",
            "the arguments do not fit the tool's parameters",
        )
        .with("faults", json!(faults)),
        Answer::Unsupported { request_id, reason } => {
            unsupported(reason).with("request_id", json!(request_id))
        }
        Answer::Done { .. }
        | Answer::Replayed { .. }
        | Answer::ApprovalRequired { .. }
        | Answer::Suppressed => unsupported("unavailable"),
    };
    refusal.of(operation)
}

fn unsupported(reason: &'static str) -> Refusal {
    Refusal::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "operation_unsupported",
        reason,
        "the operation could not be carried out",
    )
}

fn invalid_key(reason: &'static str) -> Refusal {
    let (status, message) = match reason {
        "idempotency_key_required" => (
            StatusCode::BAD_REQUEST,
            "this operation takes an `idempotency_key`: one text for each thing that is to be done once",
        ),
        _ => (
            StatusCode::CONFLICT,
            "this `idempotency_key` was another call's, with another action, arguments or selection token",
        ),
    };
    Refusal::new(status, "input_invalid", reason, message)
}

/// The one place where a secret leaves the kernel: for the model that asked.
fn done(request_id: Ulid, delivery: Delivery) -> Response {
    let Delivery { value, model_only } = delivery;
    let mut body =
        json!({"ok": true, "request_id": request_id, "decision": "allowed", "result": value});
    if let (Some(body), true) = (body.as_object_mut(), model_only) {
        body.insert("result_schema".to_owned(), json!(MODEL_ONLY));
    }
    json_value(StatusCode::OK, &body)
}

/// The one answer for everything that a worker's view does not show.
fn absent() -> Refusal {
    Refusal::new(
        StatusCode::NOT_FOUND,
        "operation_absent",
        "unknown_operation",
        "there is no such operation",
    )
}

fn denial_message(reason: DenialReason) -> &'static str {
    match reason {
        DenialReason::SelectionTokenInvalid => {
            "present an unspent selection token of this task, as `selection_token`"
        }
        DenialReason::GrantExpired => "the task is over",
        DenialReason::LimitReached => {
            "the task, or the one that commissioned it, has made all the calls that its `limits` allow"
        }
        _ => "the task's grant does not allow this call",
    }
}

/// `GET /v1/actions/{id}`
pub async fn call_state(
    State(kernel): State<Arc<Kernel>>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let task = authenticate(&kernel, &headers).await?;
    let call = of_task(&kernel, &task, id).await?;
    Ok(json_value(StatusCode::OK, &told(call)))
}

/// `POST /v1/actions/{id}/cancel`: a call that waits will never run.
pub async fn cancel(
    State(kernel): State<Arc<Kernel>>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let task = authenticate(&kernel, &headers).await?;
    let call = of_task(&kernel, &task, id).await?;
    kernel.cancel(&call).await?;
    let now = kernel.call_of(&task, call.id).await?.unwrap_or(call);
    match now.state {
        calls::State::Cancelled => Ok(json_value(StatusCode::OK, &told(now))),
        state => Err(Refusal::new(
            StatusCode::CONFLICT,
            "input_invalid",
            "not_pending",
            format!(
                "the call does not wait any more: it is `{}`",
                state.as_str()
            ),
        )),
    }
}

/// The call that a path names, of the task that asks.
async fn of_task(
    kernel: &Kernel,
    task: &LiveTask,
    id: Result<Path<String>, PathRejection>,
) -> Result<StoredCall, Refusal> {
    let id = id.ok().and_then(|Path(id)| Ulid::from_string(&id).ok());
    let call = match id {
        Some(id) => kernel.call_of(task, id).await?,
        None => None,
    };
    call.ok_or_else(|| {
        Refusal::new(
            StatusCode::NOT_FOUND,
            "operation_absent",
            "unknown_request",
            "this task has no such call",
        )
    })
}

impl Kernel {
    /// A call of a task as it stands; `None` where the task has no such call.
    pub(crate) async fn call_of(
        &self,
        task: &LiveTask,
        id: Ulid,
    ) -> Result<Option<StoredCall>, StoreError> {
        let stored = self.call_as_of_now(id).await?;
        Ok(stored.filter(|call| call.task_id == task.id))
    }
}

/// What a worker is told of its call.
pub(crate) fn told(call: StoredCall) -> Value {
    let mut body =
        json!({"ok": true, "request_id": call.id, "action": call.action, "state": call.state});
    if let Some(body) = body.as_object_mut() {
        let reason = call.reason.map(|reason| ("reason", json!(reason)));
        let other = call
            .superseded_by
            .map(|other| ("superseded_by", json!(other)));
        let result = call.result.map(|result| ("result", result));
        let more = [reason, other, result].into_iter().flatten();
        body.extend(more.map(|(key, value)| (key.to_owned(), value)));
    }
    body
}
