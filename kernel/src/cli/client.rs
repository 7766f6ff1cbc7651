//! The owner's commands, which speak to a running kernel.

use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{load_config, say};
use crate::auth::{Secret, read_key};
use crate::owner::approvals::ToldCall;
use crate::owner::previews::ToldPreview;
use crate::printable;
use crate::store::Message;

/// Seconds that one question for messages waits.
const WAIT: u64 = 15;

/// Who speaks to a running kernel: the owner, or an approver.
pub(super) struct Speaker {
    http: reqwest::Client,
    url: String,
    key: Secret,
}

impl Speaker {
    pub(super) fn owner(config: Option<PathBuf>) -> Result<Self, String> {
        Self::with_key(config, "owner")
    }

    /// One of the configuration's approvers.
    pub(super) fn approver(config: Option<PathBuf>, id: &str) -> Result<Self, String> {
        let known = load_config(config.clone())?.approvals.approvers;
        if !known.iter().any(|approver| *approver.id == *id) {
            return Err(format!("the configuration has no approver `{}`", line(id)));
        }
        Self::with_key(config, &format!("approver-{id}"))
    }

    fn with_key(config: Option<PathBuf>, key: &str) -> Result<Self, String> {
        let config = load_config(config)?;
        let key = read_key(&config.data.join("keys"), key).map_err(|error| error.to_string())?;
        let http = crate::http::client()
            .no_proxy()
            .timeout(Duration::from_secs(WAIT + 15))
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self {
            http,
            url: format!("http://{}", config.listen),
            key,
        })
    }

    async fn ask(&self, request: reqwest::RequestBuilder) -> Result<Value, String> {
        let answer = request
            .bearer_auth(self.key.reveal())
            .send()
            .await
            .map_err(|error| {
                format!(
                    "no kernel answers at {}: {}; start one with `actum serve`",
                    self.url,
                    root_cause(&error)
                )
            })?;
        let text = answer.text().await.map_err(|error| error.to_string())?;
        let body: Value = serde_json::from_str(&text)
            .map_err(|_| format!("what answers at {} is no kernel", self.url))?;
        match body.get("ok").and_then(Value::as_bool) {
            Some(true) => Ok(body),
            _ => {
                let message = body.pointer("/error/message").and_then(Value::as_str);
                Err(message
                    .unwrap_or("the kernel refused and did not say why")
                    .to_owned())
            }
        }
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, String> {
        self.ask(self.http.get(format!("{}{path}", self.url))).await
    }

    /// A part of the answer to a GET.
    pub(super) async fn part<T: DeserializeOwned>(
        &self,
        path: &str,
        name: &str,
    ) -> Result<T, String> {
        part(self.get(path).await?, name)
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        self.ask(
            self.http
                .post(format!("{}{path}", self.url))
                .body(body.to_string()),
        )
        .await
    }
}

/// A part of an answer.
pub(super) fn part<T: DeserializeOwned>(mut answer: Value, name: &str) -> Result<T, String> {
    let part = answer.get_mut(name).map(Value::take).unwrap_or_default();
    serde_json::from_value(part).map_err(|error| {
        format!("the kernel's answer cannot be read; is it of another version? {error}")
    })
}

fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

/// Has the running kernel sign the ledger, and gives the checkpoint.
pub(super) async fn sign_ledger(config: Option<PathBuf>) -> Result<String, String> {
    let owner = Speaker::owner(config)?;
    let answer = owner
        .post("/v1/owner/ledger/checkpoint", &json!({}))
        .await?;
    let note = answer.get("checkpoint").and_then(Value::as_str);
    note.map(str::to_owned)
        .ok_or_else(|| "the kernel signs no checkpoints".to_owned())
}

/// `actum attach`
pub(super) async fn attach(config: Option<PathBuf>, once: bool) -> Result<(), String> {
    let owner = Speaker::owner(config)?;
    let mut after = 0;
    let mut last_call = ulid::Ulid::nil();
    let mut last_preview = ulid::Ulid::nil();
    loop {
        let wait = if once { 0 } else { WAIT };
        let answer = owner
            .get(&format!(
                "/v1/owner/messages?after={after}&calls_after={last_call}&previews_after={last_preview}&wait={wait}"
            ))
            .await?;
        let messages: Vec<Message> = answer
            .get("messages")
            .cloned()
            .map_or(Ok(Vec::new()), serde_json::from_value)
            .map_err(|error| error.to_string())?;
        for message in &messages {
            after = after.max(message.seq);
            say(&format!(
                "{}  {} (task {})\n{}\n",
                message.at,
                line(&message.sender),
                message.task_id,
                indented(&message.body)
            ))?;
        }
        let calls: Vec<ToldCall> = answer
            .get("calls")
            .cloned()
            .map_or(Ok(Vec::new()), serde_json::from_value)
            .map_err(|error| error.to_string())?;
        for call in &calls {
            last_call = last_call.max(call.id);
            say(&format!(
                "a call waits for you; decide with `actum approvals approve {}`, or `reject`\n{}",
                last_call,
                super::approvals::shown(call)
            ))?;
        }
        let previews: Vec<ToldPreview> = part(answer, "previews")?;
        for preview in &previews {
            last_preview = last_preview.max(preview.id);
            let told = super::previews::shown(preview);
            say(&format!("a draft was shown to you\n{told}"))?;
        }
        if once && messages.is_empty() {
            return Ok(());
        }
    }
}

/// `actum select`
pub(super) async fn select(config: Option<PathBuf>, thread: Option<String>) -> Result<(), String> {
    let owner = Speaker::owner(config)?;
    let Some(thread) = thread else {
        let answer = owner.get("/v1/owner/threads").await?;
        let threads = answer
            .get("threads")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let text = |thread: &Value, key: &str| match thread.get(key) {
            Some(Value::String(text)) => line(text),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let lines: Vec<String> = threads
            .iter()
            .map(|thread| {
                format!(
                    "{}  {:>3}  {:20}  {}\n",
                    text(thread, "id"),
                    text(thread, "messages"),
                    text(thread, "last_date"),
                    text(thread, "subject")
                )
            })
            .collect();
        return say(&lines.concat());
    };
    let answer = owner
        .post("/v1/owner/selections", &json!({"thread": thread}))
        .await?;
    let text = |pointer: &str| {
        answer
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let call = json!({
        "action": "email.read_thread:selected_no_attachments",
        "arguments": {"max_messages": 10},
        "selection_token": text("/selection_tokens/0/token"),
    });
    say(&format!(
        "A task for this thread began. Its worker reads the thread, once, with:\n\n  curl -s {}/v1/actions -H \"Authorization: Bearer {}\" -d '{call}'\n\n(task {}, until {})\n",
        owner.url,
        text("/task_token"),
        text("/task_id"),
        text("/expires_at"),
    ))
}

/// `actum revoke`
pub(super) async fn revoke(config: Option<PathBuf>, task: &str) -> Result<(), String> {
    let owner = Speaker::owner(config)?;
    if actum_id(task).is_none() {
        return Err(format!("`{}` is no task id", line(task)));
    }
    let answer = owner
        .post(&format!("/v1/owner/tasks/{task}/revoke"), &json!({}))
        .await?;
    say(&match answer.get("tasks").and_then(Value::as_u64) {
        None | Some(0 | 1) => "revoked; the task's token no longer works\n".to_owned(),
        Some(2) => "revoked, with the one task that it commissioned; their tokens no longer work\n"
            .to_owned(),
        Some(all) => format!(
            "revoked, with the {} tasks that it commissioned; their tokens no longer work\n",
            all - 1
        ),
    })
}

/// `actum reload`
pub(super) async fn reload(config: Option<PathBuf>) -> Result<(), String> {
    let owner = Speaker::owner(config)?;
    let answer = owner.post("/v1/owner/manifests/reload", &json!({})).await?;
    let text = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or_default();
    match answer.get("changed").and_then(Value::as_bool) {
        Some(true) => say(&format!(
            "in force now: {} (before: {})\n",
            text("revision"),
            text("from")
        )),
        _ => say(&format!("nothing has changed: {}\n", text("revision"))),
    }
}

fn actum_id(text: &str) -> Option<ulid::Ulid> {
    ulid::Ulid::from_string(text).ok()
}

/// What strangers wrote, as one line of a terminal.
pub(super) fn line(text: &str) -> String {
    printable::line(text, 200)
}

/// What strangers wrote, indented under its heading.
pub(super) fn indented(text: &str) -> String {
    let shown = printable::block(text, 64 * 1024);
    shown
        .lines()
        .map(|line| format!("    {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}
