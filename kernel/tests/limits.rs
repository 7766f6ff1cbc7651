//! Bounds of time, size and number, and a stop in good order.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use std::sync::Arc;
use std::time::Duration;

use actum::{ActionError, action};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Notify;

use support::client::{Client, Task};
use support::home::{Authority, Home};
use support::kernel::{Here, Program};
use support::telegram::{BOT_TOKEN, BotApi, Reply};

const TERMINAL: &str = "terminal.reply:owner_device";
const SEND: &str = "telegram.reply:owner_channel";

/// Far more than anything here takes, and less than what would be waited for in vain.
const SOON: Duration = Duration::from_secs(7);

#[action(
    id = "test.hang:changing",
    description = "Changes something and never ends."
)]
async fn hang_changing() -> Result<(), ActionError> {
    std::future::pending().await
}

#[action(
    id = "test.hang:reading",
    description = "Reads something and never ends.",
    read_only
)]
async fn hang_reading() -> Result<(), ActionError> {
    std::future::pending().await
}

#[action(
    id = "test.panic:changing",
    description = "Changes something and panics."
)]
async fn panic_changing() -> Result<(), ActionError> {
    panic!("s3cret of the handler")
}

#[action(
    id = "test.panic:reading",
    description = "Reads something and panics.",
    read_only
)]
async fn panic_reading() -> Result<(), ActionError> {
    panic!("s3cret of the handler")
}

#[action(
    id = "test.large:changing",
    description = "Changes something and tells too much of it."
)]
async fn large_changing() -> Result<String, ActionError> {
    Ok("s3cret".repeat(1_000))
}

#[action(id = "test.large:reading", description = "Reads too much.", read_only)]
async fn large_reading() -> Result<String, ActionError> {
    Ok("s3cret".repeat(1_000))
}

/// A desk whose tasks may call everything here.
fn home(limits: &str) -> Home {
    let authority = Authority {
        name: "ask",
        allowed: &[
            "test.hang:changing",
            "test.hang:reading",
            "test.panic:changing",
            "test.panic:reading",
            "test.large:changing",
            "test.large:reading",
            TERMINAL,
        ],
        channels: &["terminal.owner.reply"],
        ..Authority::default()
    };
    Home::desk("webchat", &[authority], &format!("limits: {{ {limits} }}"))
}

async fn begin(kernel: &Client) -> Task {
    let event = json!({"event_type": "ask", "channel_account": "desk"});
    kernel.begin("desk", &event).await
}

/// Calls an action that does not end well; the reason that the worker is told, and the call's state.
async fn end_of(kernel: &Client, task: &Task, action: &str) -> (String, String) {
    let answer = kernel.ask(&task.token, action, json!({})).await;
    let (status, code, reason) = answer.refusal();
    assert_eq!(
        (status, code.as_str()),
        (422, "operation_unsupported"),
        "{answer:?}"
    );
    assert!(!answer.text().contains("s3cret"), "{answer:?}");
    let state = kernel
        .state(&task.token, &answer.at("/error/request_id"))
        .await;
    assert!(!state.text().contains("s3cret"), "{state:?}");
    assert!(state.json().get("result").is_none(), "{state:?}");
    (reason, state.at("/state"))
}

async fn still_works(kernel: &Client, task: &Task) {
    let answer = kernel
        .ask(&task.token, TERMINAL, json!({"text": "Still here."}))
        .await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(kernel.messages().await, ["Still here."]);
}

fn end(reason: &str, state: &str) -> (String, String) {
    (reason.to_owned(), state.to_owned())
}

#[tokio::test]
async fn a_handler_that_does_not_end_is_stopped_and_only_a_reading_one_is_known_to_have_failed() {
    let kernel = Here::start(home("handler_seconds: 1")).await;
    let task = begin(&kernel).await;
    let unknown = end_of(&kernel, &task, "test.hang:changing").await;
    assert_eq!(unknown, end("outcome_unknown", "outcome_unknown"));
    let failed = end_of(&kernel, &task, "test.hang:reading").await;
    assert_eq!(failed, end("operation_failed", "failed"));
    still_works(&kernel, &task).await;

    let ledger = kernel.home.ledger().await;
    let kinds: Vec<&str> = ledger
        .iter()
        .skip(2)
        .map(|(kind, _)| kind.as_str())
        .collect();
    assert_eq!(
        kinds,
        [
            "call_started",
            "call_outcome_unknown",
            "call_started",
            "call_failed",
            "call_started",
            "call_succeeded"
        ]
    );
}

#[tokio::test]
async fn a_panic_is_one_calls_end_and_the_kernel_goes_on() {
    let kernel = Here::start(home("")).await;
    let task = begin(&kernel).await;
    let unknown = end_of(&kernel, &task, "test.panic:changing").await;
    assert_eq!(unknown, end("outcome_unknown", "outcome_unknown"));
    let failed = end_of(&kernel, &task, "test.panic:reading").await;
    assert_eq!(failed, end("operation_failed", "failed"));
    still_works(&kernel, &task).await;
}

#[tokio::test]
async fn a_result_over_the_limit_is_neither_sent_nor_stored() {
    let kernel = Here::start(home("result_bytes: 6001")).await;
    let task = begin(&kernel).await;
    let failed = end_of(&kernel, &task, "test.large:reading").await;
    assert_eq!(failed, end("operation_failed", "failed"));
    // It did what it was asked, so nobody may be told that it did not.
    let unknown = end_of(&kernel, &task, "test.large:changing").await;
    assert_eq!(unknown, end("outcome_unknown", "outcome_unknown"));
    for (path, bytes) in kernel.home.traces() {
        let holds = bytes.windows(6).any(|window| window == b"s3cret");
        assert!(!holds, "{}", path.display());
    }

    let kernel = Here::start(home("result_bytes: 6002")).await;
    let task = begin(&kernel).await;
    let answer = kernel
        .ask(&task.token, "test.large:reading", json!({}))
        .await;
    assert_eq!(answer.status, 200, "the bound itself is within");
}

#[tokio::test]
async fn the_health_of_a_kernel_is_told_to_anybody() {
    let kernel = Here::start(home("")).await;
    for path in ["/healthz", "/readyz"] {
        let answer = kernel.get(path, None).await;
        assert_eq!((answer.status, answer.json()), (200, json!({"ok": true})));
    }
}

/// An owner who waits for a message; it is in when a kernel with one place is busy.
async fn waiting_owner(kernel: &Client) -> tokio::task::JoinHandle<Value> {
    let owner = kernel.clone();
    let waiting = tokio::spawn(async move {
        let answer = owner.owner_get("/v1/owner/messages?wait=20").await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    });
    let busy = async { while kernel.task("").await.status != 503 {} };
    tokio::time::timeout(SOON, busy).await.unwrap();
    waiting
}

#[tokio::test]
async fn requests_beyond_the_limit_are_turned_away_until_a_place_is_free() {
    let kernel = Here::start(home("concurrent_requests: 1")).await;
    let task = begin(&kernel).await;
    let waiting = waiting_owner(&kernel).await;

    let key = kernel.connector_key("desk");
    for answer in [
        kernel.task(&task.token).await,
        kernel
            .ask(&task.token, TERMINAL, json!({"text": "Hello"}))
            .await,
        kernel.post("/v1/events", Some(&key), "{}").await,
        kernel.owner_get("/v1/owner/messages").await,
    ] {
        answer.refused(503, "operation_unsupported", "busy");
    }
    // The operator can still ask.
    for path in ["/healthz", "/readyz"] {
        assert_eq!(kernel.get(path, None).await.status, 200);
    }

    // Whoever goes away leaves its place.
    waiting.abort();
    let free = async { while kernel.task(&task.token).await.status != 200 {} };
    tokio::time::timeout(SOON, free).await.unwrap();
    still_works(&kernel, &task).await;
}

#[tokio::test]
async fn an_owner_who_waits_is_told_of_a_message_when_it_comes() {
    let kernel = Here::start(home("")).await;
    let task = begin(&kernel).await;
    let owner = kernel.owner_get("/v1/owner/messages?wait=20");
    let worker = kernel.ask(&task.token, TERMINAL, json!({"text": "Hello"}));
    let both = async { tokio::join!(owner, worker) };
    let (told, _) = tokio::time::timeout(SOON, both).await.unwrap();
    let message = told.json()["messages"][0].clone();
    assert_eq!(message["body"], "Hello");
    assert_eq!(message["task_id"], *task.id);
    assert_eq!(message["seq"], 1);
    // From there on there is nothing new.
    let none = kernel.owner_get("/v1/owner/messages?after=1").await;
    assert_eq!(none.json()["messages"], json!([]));
}

#[tokio::test]
async fn a_stop_lets_go_of_an_owner_who_waits() {
    let mut kernel = Here::start(home("concurrent_requests: 1")).await;
    let waiting = waiting_owner(&kernel).await;
    kernel.ask_to_stop();
    let told = tokio::time::timeout(SOON, waiting).await.unwrap().unwrap();
    assert_eq!(told, json!({"ok": true, "messages": []}));
    let home = tokio::time::timeout(SOON, kernel.stopped()).await.unwrap();
    assert_eq!(home.ledger().await.last().unwrap().0, "kernel_stopped");
}

/// Waits until a kernel takes no more connections.
async fn closed(kernel: &Client) {
    let address = kernel.url.strip_prefix("http://").unwrap();
    let closed = async { while TcpStream::connect(address).await.is_ok() {} };
    tokio::time::timeout(SOON, closed).await.unwrap();
}

#[tokio::test]
async fn whoever_has_read_the_first_line_stops_the_kernel_in_good_order() {
    let mut home = Home::desk("chat", &[Authority::default()], "");
    for _ in 0..5 {
        let kernel = Program::start(home);
        kernel.terminate();
        let (status, stopped) = kernel.ended();
        assert!(status.success(), "{status}");
        home = Arc::into_inner(stopped).unwrap();
    }
    let ledger = home.ledger().await;
    let of = |kind: &str| ledger.iter().filter(|(one, _)| one == kind).count();
    assert_eq!((of("kernel_started"), of("kernel_stopped")), (5, 5));
}

#[tokio::test]
async fn sigterm_finishes_the_call_under_way_and_takes_no_other() {
    let release = Arc::new(Notify::new());
    let bot = BotApi::start(Reply::Held(Arc::clone(&release))).await;
    let authority = Authority {
        name: "message",
        allowed: &[SEND],
        channels: &["telegram.owner.reply"],
        ..Authority::default()
    };
    let home = Home::desk("telegram", &[authority], &bot.config());
    home.write("bot.token", BOT_TOKEN);
    let kernel = Program::start(home);
    let event = json!({"event_type": "message", "channel_account": "4711"});
    let task = kernel.begin("desk", &event).await;

    let (worker, token) = ((*kernel).clone(), task.token.clone());
    let call =
        tokio::spawn(async move { worker.ask(&token, SEND, json!({"text": "Hello"})).await });
    bot.first().await;
    kernel.terminate();
    closed(&kernel).await;

    release.notify_one();
    let answer = call.await.unwrap();
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["result"], json!({"message_id": 77}));
    let (status, home) = kernel.ended();
    assert!(status.success(), "{status}");
    let ledger = home.ledger().await;
    let kinds: Vec<&str> = ledger.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(
        kinds,
        [
            "kernel_started",
            "grant_issued",
            "call_started",
            "call_succeeded",
            "kernel_stopped"
        ]
    );
}

#[tokio::test]
async fn a_call_goes_on_when_its_worker_is_gone() {
    let release = Arc::new(Notify::new());
    let bot = BotApi::start(Reply::Held(Arc::clone(&release))).await;
    let authority = Authority {
        name: "message",
        allowed: &[SEND],
        channels: &["telegram.owner.reply"],
        ..Authority::default()
    };
    let home = Home::desk("telegram", &[authority], &bot.config());
    home.write("bot.token", BOT_TOKEN);
    let mut kernel = Here::start(home).await;
    let event = json!({"event_type": "message", "channel_account": "4711"});
    let task = kernel.begin("desk", &event).await;

    let (worker, token) = ((*kernel).clone(), task.token.clone());
    let call =
        tokio::spawn(async move { worker.ask(&token, SEND, json!({"text": "Hello"})).await });
    bot.first().await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    // Nor does a stop cut it off.
    kernel.ask_to_stop();
    closed(&kernel).await;
    release.notify_one();
    let home = kernel.stopped().await;
    assert_eq!(
        home.calls().await,
        [(SEND.to_owned(), "succeeded".to_owned())]
    );
    let ledger = home.ledger().await;
    let kinds: Vec<&str> = ledger.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(
        kinds[2..],
        ["call_started", "call_succeeded", "kernel_stopped"]
    );
}

#[tokio::test]
async fn calls_whose_workers_hang_up_at_once_are_finished_or_were_never_begun() {
    let kernel = Here::start(home("")).await;
    let task = begin(&kernel).await;
    let body = json!({"action": TERMINAL, "arguments": {"text": "Hello"}}).to_string();
    let request = format!(
        "POST /v1/actions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{body}",
        task.token,
        body.len()
    );
    let address = kernel.url.strip_prefix("http://").unwrap();
    for _ in 0..100 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
    }
    // One that waits for its answer, behind all of them.
    let answer = kernel
        .ask(&task.token, TERMINAL, json!({"text": "Last"}))
        .await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let home = kernel.stopped().await;

    let calls = home.calls().await;
    assert!(
        calls.iter().all(|(_, state)| state == "succeeded"),
        "{calls:?}"
    );
    let ledger = home.ledger().await;
    let count = |wanted: &str| ledger.iter().filter(|(kind, _)| kind == wanted).count();
    assert_eq!(count("call_started"), calls.len());
    assert_eq!(count("call_succeeded"), calls.len());
    assert_eq!(ledger.last().unwrap().0, "kernel_stopped");
}
