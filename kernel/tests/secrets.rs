//! A secret reaches the model alone: a sentinel is given to handlers and payloads in every way there is,
//! and looked for in everything else that anyone can see.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use actum::{ActionError, Registry, Secret, action};
use data_encoding::{BASE64, HEXLOWER};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use support::answer::Answer;
use support::client::Task;
use support::home::{Authority, Home};
use support::kernel::Here;

/// A text that stands nowhere by accident, with what JSON and URLs write otherwise in it.
const SENTINEL: &str = "sentinel\"4711/ü+swordfish";

/// Another, for where the first would be hidden by what hides the same value elsewhere.
const HEADER: &str = "Bearer swordfish of 4711/";

/// Where the secret is, and how often it was asked for.
#[derive(Clone, Default)]
struct Vault(Arc<AtomicUsize>);

impl Vault {
    fn open(&self) -> String {
        self.0.fetch_add(1, Ordering::SeqCst);
        SENTINEL.to_owned()
    }
}

#[derive(Serialize, JsonSchema)]
struct Found {
    name: String,
    value: Secret<String>,
}

/// A secret by its type.
#[action(id = "vault.typed", description = "Read by type.", read_only)]
async fn typed(vault: &Vault) -> Result<Found, ActionError> {
    Ok(Found {
        name: "supplier".to_owned(),
        value: Secret::new(vault.open()),
    })
}

#[derive(Serialize, JsonSchema)]
struct Pages {
    pages: Vec<BTreeMap<String, String>>,
    headers: BTreeMap<String, String>,
}

/// A secret by paths alone, under names in another case.
#[action(
    id = "vault.by_path",
    description = "Read by path.",
    read_only,
    redact("$.pages[*].token" = "[TOKEN]", "$.headers['set-cookie']" = "[COOKIE]")
)]
async fn by_path(vault: &Vault) -> Result<Pages, ActionError> {
    let with = |name: &str| BTreeMap::from([(name.to_owned(), vault.open())]);
    Ok(Pages {
        pages: vec![with("token"), with("Token")],
        headers: with("Set-Cookie"),
    })
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Send {
    headers: BTreeMap<String, String>,
    key: Secret<String>,
    note: String,
}

/// Secrets that the model passes on: one by a path, one by its type.
#[action(
    id = "vault.send",
    description = "Send with a key.",
    redact("$.headers.authorization" = "[REDACTED]")
)]
async fn send(ask: Send) -> Result<Send, ActionError> {
    Ok(ask)
}

/// The same, waiting for the owner.
#[action(
    id = "vault.send_later",
    description = "Send with a key, once the owner says so.",
    approval_required,
    redact("$.headers.authorization" = "[REDACTED]")
)]
async fn send_later(ask: Send) -> Result<Send, ActionError> {
    Ok(ask)
}

#[derive(Debug, thiserror::Error)]
#[error("the lock refused {0}")]
struct Refused(String);

/// A secret in the text of an error, and in the one below it.
#[action(id = "vault.fails", description = "Fail with it.")]
async fn fails(vault: &Vault) -> Result<Found, ActionError> {
    let value = Secret::new(vault.open());
    Err(Refused(format!("{value:?} as {}", value.expose())))?
}

/// An argument in the text of an error.
#[action(
    id = "vault.repeats",
    description = "Repeat it in an error.",
    redact("$.headers.authorization" = "[REDACTED]")
)]
async fn repeats(ask: Send) -> Result<(), ActionError> {
    let url = format!("{}?key={}", ask.headers["Authorization"], ask.key.expose());
    Err(ActionError::failed(format!(
        "GET {url} failed for {}",
        ask.note
    )))
}

/// A secret in the message of a panic.
#[action(id = "vault.panics", description = "Panic with it.")]
async fn panics(vault: &Vault) -> Result<Found, ActionError> {
    let value = Secret::new(vault.open());
    panic!("there is no lock for {}", value.expose())
}

/// What the kernel logs and what is printed of panics, all of it.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Every spelling in which a text could come out.
fn spellings(text: &str) -> Vec<String> {
    let json = serde_json::to_string(text).unwrap();
    let ascii: String = text
        .chars()
        .map(|c| {
            if c.is_ascii() {
                c.to_string()
            } else {
                format!("\\u{:04x}", u32::from(c))
            }
        })
        .collect();
    let percent: String = text
        .bytes()
        .map(|b| {
            if b.is_ascii_alphanumeric() {
                char::from(b).to_string()
            } else {
                format!("%{b:02X}")
            }
        })
        .collect();
    vec![
        text.to_owned(),
        json.trim_matches('"').to_owned(),
        ascii,
        percent,
        BASE64
            .encode(text.as_bytes())
            .trim_end_matches('=')
            .to_owned(),
        HEXLOWER.encode(text.as_bytes()),
        // Any long enough piece of it is too much.
        "4711/".to_owned(),
        "swordfish".to_owned(),
    ]
}

#[track_caller]
fn is_clean(what: &str, bytes: &[u8]) {
    for spelling in spellings(SENTINEL).into_iter().chain(spellings(HEADER)) {
        let found = bytes
            .windows(spelling.len())
            .any(|window| window == spelling.as_bytes());
        assert!(
            !found,
            "{what} has {spelling:?}: {}",
            String::from_utf8_lossy(bytes)
        );
    }
}

#[track_caller]
fn answer_is_clean(answer: &Answer) {
    is_clean("an answer", format!("{answer:?}").as_bytes());
}

const GRANTED: [&str; 7] = [
    "vault.typed",
    "vault.by_path",
    "vault.send",
    "vault.send_later",
    "vault.fails",
    "vault.repeats",
    "vault.panics",
];

async fn kernel(vault: &Vault, denied: &[&str]) -> (Here, Task) {
    let allowed: Vec<_> = GRANTED
        .into_iter()
        .filter(|id| !denied.contains(id))
        .collect();
    let authority = Authority {
        name: "work",
        allowed: &allowed,
        denied,
        ..Authority::default()
    };
    let actions = actum::actions![typed, by_path, send, send_later, fails, repeats, panics];
    let registry = Registry::new(actions, []).unwrap();
    let kernel = Here::start_with(Home::desk("chat", &[authority], ""), |builder| {
        builder.registry(registry).resource(vault.clone())
    })
    .await;
    let event = json!({"event_type": "work", "channel_account": "desk"});
    let task = kernel.begin("desk", &event).await;
    (kernel, task)
}

fn with_key() -> Value {
    json!({
        "headers": {"Authorization": HEADER, "accept": "*/*"},
        "key": SENTINEL,
        "note": "for the supplier",
    })
}

#[tokio::test]
async fn a_sentinel_reaches_the_model_and_nothing_else_that_can_be_seen() {
    let log = Log::default();
    let writer = log.clone();
    let all = tracing_subscriber::fmt::layer()
        // Each field of each span, which is what traces have.
        .with_span_events(FmtSpan::FULL)
        .with_writer(move || writer.clone())
        .with_filter(filter_fn(actum_kernel::may_be_logged));
    tracing_subscriber::registry().with(all).init();
    let printed = log.clone();
    actum_kernel::scrub_panics_into(move |told| {
        printed.clone().write_all(told.as_bytes()).unwrap();
    });

    let vault = Vault::default();
    let (kernel, task) = kernel(&vault, &[]).await;
    let token = task.token.as_str();
    let mut seen = vec![kernel.task(token).await];
    let mut delivered = Vec::new();

    for (action, arguments, hidden) in [
        (
            "vault.typed",
            json!({}),
            json!({"name": "supplier", "value": "[SECRET]"}),
        ),
        (
            "vault.by_path",
            json!({}),
            json!({
                "pages": [{"token": "[TOKEN]"}, {"Token": "[TOKEN]"}],
                "headers": {"Set-Cookie": "[COOKIE]"},
            }),
        ),
        (
            "vault.send",
            with_key(),
            json!({
                "headers": {"Authorization": "[REDACTED]", "accept": "*/*"},
                "key": "[SECRET]",
                "note": "for the supplier",
            }),
        ),
    ] {
        let answer = kernel.ask(token, action, arguments).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let body = answer.json();
        // The one explicit opening, and it says what it is.
        assert_eq!(body["result_schema"], "actum:model-only-result/1");
        assert!(body["result"].to_string().contains("swordfish"), "{body}");
        let id = body["request_id"].as_str().unwrap().to_owned();
        delivered.push(answer);
        // Looked at again, it is what was stored.
        let again = kernel.state(token, &id).await;
        assert_eq!(again.json()["result"], hidden);
        assert_eq!(again.json().get("result_schema"), None);
        seen.push(again);
    }

    let waiting = kernel.ask(token, "vault.send_later", with_key()).await;
    assert_eq!(waiting.status, 202, "{waiting:?}");
    seen.push(kernel.state(token, &waiting.at("/request_id")).await);
    seen.push(waiting);
    for (action, arguments, reason) in [
        ("vault.fails", json!({}), "operation_failed"),
        ("vault.repeats", with_key(), "operation_failed"),
        ("vault.panics", json!({}), "outcome_unknown"),
    ] {
        let answer = kernel.ask(token, action, arguments).await;
        answer.refused_with_more(422, "operation_unsupported", reason);
        seen.push(kernel.state(token, &answer.at("/error/request_id")).await);
        seen.push(answer);
    }
    // What does not fit is told by its place, and what is no key at all by nothing.
    let mut unfit = with_key();
    unfit["note"] = json!(1);
    seen.push(kernel.ask(token, "vault.send", unfit).await);
    let mut unfit = with_key();
    unfit["key"] = json!({"inner": SENTINEL});
    seen.push(kernel.ask(token, "vault.send", unfit).await);
    seen.push(kernel.ask(token, "vault.elsewhere", with_key()).await);

    // By MCP it reaches the model as well, and what is logged on the way has nothing of it.
    let by_mcp = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "vault-send", "arguments": with_key()},
    });
    delivered.push(kernel.mcp(token, &by_mcp).await);
    assert!(delivered.last().unwrap().text().contains("swordfish"));
    let metrics = kernel.key("metrics");
    seen.push(kernel.get("/metrics", Some(&metrics)).await);

    seen.iter().for_each(answer_is_clean);
    // A delivery has it in its body, and not in any header.
    for answer in &delivered {
        is_clean("headers", format!("{:?}", answer.headers).as_bytes());
    }
    for (kind, body) in kernel.home.ledger().await {
        is_clean(&kind, body.to_string().as_bytes());
    }
    for (path, bytes) in kernel.home.traces() {
        is_clean(&path.display().to_string(), &bytes);
    }
    let stopped = kernel.stopped().await;
    for (path, bytes) in stopped.traces() {
        is_clean(&path.display().to_string(), &bytes);
    }
    let log = log.0.lock().unwrap().clone();
    is_clean("the log", &log);
    let log = String::from_utf8(log).unwrap();
    // It says what happened all the same.
    for told in [
        "the lock refused Secret(..) as [SECRET]",
        "GET [SECRET]?key=[SECRET] failed for for the supplier",
        "there is no lock for [SECRET]",
    ] {
        assert!(log.contains(told), "{told:?} is not in the log:\n{log}");
    }
}

#[tokio::test]
async fn by_mcp_a_result_that_has_a_secret_says_so_and_a_retry_is_without_it() {
    let vault = Vault::default();
    let (kernel, task) = kernel(&vault, &[]).await;
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "vault-typed", "_meta": {"actum/idempotency_key": "once"}},
    });
    let opened = kernel.mcp(&task.token, &call).await.json();
    let result = &opened["result"];
    assert_eq!(result["structuredContent"]["value"], SENTINEL);
    assert!(
        result["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("swordfish")
    );
    let mark = "actum:model-only-result/1";
    assert_eq!(result["_meta"]["actum/result_schema"], mark);

    let again = kernel.mcp(&task.token, &call).await;
    answer_is_clean(&again);
    let again = again.json();
    assert_eq!(again["result"]["structuredContent"]["value"], "[SECRET]");
    assert_eq!(again["result"]["_meta"].get("actum/result_schema"), None);
    let id = result["_meta"]["actum/request_id"].as_str().unwrap();
    let read = json!({
        "jsonrpc": "2.0", "id": 1, "method": "resources/read",
        "params": {"uri": format!("actum://calls/{id}")},
    });
    answer_is_clean(&kernel.mcp(&task.token, &read).await);
    let failed = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "vault-fails"},
    });
    answer_is_clean(&kernel.mcp(&task.token, &failed).await);
    assert_eq!(vault.0.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_denied_call_never_resolves_the_secret() {
    let vault = Vault::default();
    let denied = ["vault.typed", "vault.fails"];
    let (kernel, task) = kernel(&vault, &denied).await;
    for action in denied {
        let answer = kernel.ask(&task.token, action, json!({})).await;
        answer.refused(404, "operation_absent", "unknown_operation");
    }
    let unfit = kernel
        .ask(&task.token, "vault.by_path", json!({"more": 1}))
        .await;
    assert_eq!(unfit.status, 400, "{unfit:?}");
    assert_eq!(vault.0.load(Ordering::SeqCst), 0, "nobody asked for it");
}

#[tokio::test]
async fn the_ledger_names_the_paths_that_are_redacted() {
    let vault = Vault::default();
    let (kernel, task) = kernel(&vault, &[]).await;
    let answer = kernel.ask(&task.token, "vault.by_path", json!({})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let ledger = kernel.home.ledger().await;
    let started = ledger
        .iter()
        .find(|(kind, _)| kind == "call_started")
        .unwrap();
    assert_eq!(
        started.1["authorization"]["redactions"],
        json!(["$.headers['set-cookie']", "$.pages[*].token"]),
    );
}

/// Of the paths that are declared, each has to find something.
#[test]
fn a_path_that_finds_nothing_or_cannot_be_read_stops_the_start() {
    #[action(
        id = "vault.faulty",
        description = "x",
        redact("$.naem" = "[X]", "$.name[" = "[X]", "$.pages[*].token" = "[X]")
    )]
    async fn faulty() -> Result<Found, ActionError> {
        Err(ActionError::failed("never"))
    }
    #[action(id = "vault.idle", description = "x", redact("$.naem" = "[X]", "$.value" = "[Y]"))]
    async fn idle() -> Result<Found, ActionError> {
        Err(ActionError::failed("never"))
    }
    let faults = Registry::new(actum::actions![faulty, idle], []).unwrap_err();
    let told = faults.to_string();
    assert!(
        told.contains("`vault.faulty`: the redaction path `$.name[`"),
        "{told}"
    );
    assert!(
        told.contains("`vault.idle`: its redaction of `$.naem` finds nothing"),
        "{told}"
    );
    assert!(!told.contains("$.value"), "{told}");
}
