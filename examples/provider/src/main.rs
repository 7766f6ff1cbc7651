//! A local provider for tests of workers: it speaks four APIs, without streaming, and plays a script.
//!
//! `actum-provider SCRIPTS REQUESTS` plays the scripts of a folder, on a free port of this machine alone,
//! and appends every request to a file. The first line that it prints is its address.
//!
//! It holds what it is sent against the provider's published rules, as the client sent it: the tools by
//! [`actum::provider::check`] and [`actum::provider::check_list`], and the messages by [the order](order) that
//! the APIs ask for. What breaks a rule is answered with 400, in the provider's own shape of an error. Only
//! Gemini's other spelling of a field is [read](mod@gemini) as that API reads it.
//!
//! No model is asked: what "the model" does stands in a [script], which the request names as its model.

mod anthropic;
mod gemini;
mod openai_chat;
mod openai_responses;
mod order;
mod script;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use actum::provider::{Provider, check, check_list};
use axum::body::{Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Router, routing::post};
use serde_json::{Value, json};

use order::Step;
use script::{Call, Script};

/// The largest request.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// What differs from API to API.
#[derive(Debug, Clone, Copy)]
struct Api {
    /// Whose rules the tools are held against.
    provider: Provider,
    /// The headers that may bring the key.
    keys: &'static [&'static str],
    /// The tools, as the API reads them.
    tools: fn(&Value) -> Result<Vec<Value>, String>,
    /// The conversation, or the rule that a message breaks.
    steps: fn(&Value) -> Result<Vec<Step>, String>,
    /// An answer with a text and calls, each with its id.
    answer: fn(&str, &[(String, &Call)]) -> Value,
    /// An error, with what is wrong.
    error: fn(&str) -> Value,
}

/// Where scripts are read from, and where requests are written to.
#[derive(Debug)]
struct Stage {
    /// The folder of the scripts, `NAME.json`.
    scripts: PathBuf,
    /// The file that each request is appended to, one line each.
    requests: PathBuf,
    /// How many calls were made up so far.
    calls: AtomicUsize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(scripts), Some(requests), None) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        eprintln!("usage: actum-provider SCRIPTS REQUESTS");
        return ExitCode::from(2);
    };
    let calls = AtomicUsize::new(0);
    let stage = Stage {
        scripts,
        requests,
        calls,
    };
    match serve(stage).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(stage: Stage) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(listener, router(Arc::new(stage))).await
}

/// Every path of every API.
fn router(stage: Arc<Stage>) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(openai_chat))
        .route("/v1/responses", post(openai_responses))
        .route("/v1/messages", post(anthropic))
        .route("/v1/models/{model}", post(gemini))
        .route("/v1beta/models/{model}", post(gemini))
        .with_state(stage)
}

async fn openai_chat(State(stage): State<Arc<Stage>>, request: Request) -> Response {
    answered(&stage, &openai_chat::API, request).await
}

async fn openai_responses(State(stage): State<Arc<Stage>>, request: Request) -> Response {
    answered(&stage, &openai_responses::API, request).await
}

async fn anthropic(State(stage): State<Arc<Stage>>, request: Request) -> Response {
    answered(&stage, &anthropic::API, request).await
}

async fn gemini(State(stage): State<Arc<Stage>>, request: Request) -> Response {
    answered(&stage, &gemini::API, request).await
}

async fn answered(stage: &Stage, api: &Api, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, MOST_BYTES).await.unwrap_or_default();
    let (status, answer) = match played(stage, api, head.uri.path(), &head.headers, &body) {
        Ok(answer) => (StatusCode::OK, answer),
        Err(problem) => (StatusCode::BAD_REQUEST, (api.error)(&problem)),
    };
    let json = [(header::CONTENT_TYPE, "application/json")];
    (status, json, answer.to_string()).into_response()
}

fn played(
    stage: &Stage,
    api: &Api,
    path: &str,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Value, String> {
    let body: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    // Gemini names the model in the path, all others in the body.
    let in_path = path.strip_suffix(":generateContent");
    let in_path = in_path.and_then(|path| path.rsplit('/').next());
    let model = in_path.or_else(|| body.get("model")?.as_str());
    let model = model.ok_or("no model is named")?;
    let line = json!({"model": model, "path": path, "body": body});
    append(stage, &line).map_err(|error| error.to_string())?;

    if !api.keys.iter().any(|key| headers.contains_key(*key)) {
        return Err(format!(
            "none of these headers is there: {}",
            api.keys.join(", ")
        ));
    }
    let script = Script::read(&stage.scripts, model)?;
    let mut tools = (api.tools)(&body)?;
    script.tamper(&mut tools);
    ruled(api.provider, &tools)?;
    let steps = (api.steps)(&body)?;
    let turn = script.turn(order::turns(&steps)?)?;
    let call = |call| {
        let number = stage.calls.fetch_add(1, Ordering::Relaxed);
        (format!("call_{number}"), call)
    };
    let calls: Vec<_> = turn.calls.iter().map(call).collect();
    Ok((api.answer)(&turn.text, &calls))
}

fn append(stage: &Stage, line: &Value) -> std::io::Result<()> {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&stage.requests)?;
    file.write_all(format!("{line}\n").as_bytes())
}

/// Holds tools against a provider's published rules.
///
/// # Errors
/// Every rule that they break.
fn ruled(provider: Provider, tools: &[Value]) -> Result<(), String> {
    let faults = tools.iter().enumerate().flat_map(|(index, tool)| {
        let faults = check(provider, tool);
        faults
            .into_iter()
            .map(move |fault| format!("tools[{index}]{fault}"))
    });
    let of_list = check_list(provider, tools)
        .into_iter()
        .map(|fault| format!("tools{fault}"));
    let faults: Vec<_> = faults.chain(of_list).collect();
    match faults.is_empty() {
        true => Ok(()),
        false => Err(faults.join("\n")),
    }
}

/// The list at a place of a request; an empty one where there is none.
fn list<'a>(value: &'a Value, at: &str) -> &'a [Value] {
    let list = value.pointer(at).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// The text at a place of a request.
fn text<'a>(value: &'a Value, at: &str) -> Result<&'a str, String> {
    let text = value.pointer(at).and_then(Value::as_str);
    text.ok_or_else(|| format!("`{at}` is no text in {value}"))
}

/// Asks for a text, or for a list of parts.
fn content(value: &Value, at: &str) -> Result<(), String> {
    match value.pointer(at) {
        Some(Value::String(_) | Value::Array(_)) => Ok(()),
        _ => Err(format!("`{at}` is neither a text nor a list in {value}")),
    }
}

#[cfg(test)]
mod tests;
