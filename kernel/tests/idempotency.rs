//! Under one idempotency key a task's call runs once: who asks again is told what became of the first.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use std::sync::{Arc, Mutex};

use actum::{ActionError, Registry, Secret, Selection, action};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Notify;

use support::answer::Answer;
use support::client::Task;
use support::home::{Authority, Home};
use support::kernel::Here;

/// What was sent, and a door that the slow handler waits at.
#[derive(Clone, Default)]
struct Outbox {
    sent: Arc<Mutex<Vec<String>>>,
    begun: Arc<Notify>,
    go_on: Arc<Notify>,
}

impl Outbox {
    fn sent(&self) -> Vec<String> {
        self.sent.lock().unwrap().clone()
    }

    fn send(&self, text: &str) -> usize {
        let mut sent = self.sent.lock().unwrap();
        sent.push(text.to_owned());
        sent.len()
    }
}

#[derive(Deserialize, JsonSchema)]
struct Letter {
    text: String,
}

/// Sends at once.
#[action(id = "post.send", description = "Send a letter.")]
async fn send(outbox: &Outbox, letter: Letter) -> Result<usize, ActionError> {
    Ok(outbox.send(&letter.text))
}

/// Sends once the door is open.
#[action(id = "post.send_slowly", description = "Send a letter slowly.")]
async fn send_slowly(outbox: &Outbox, letter: Letter) -> Result<usize, ActionError> {
    outbox.begun.notify_one();
    outbox.go_on.notified().await;
    Ok(outbox.send(&letter.text))
}

/// Sends; the owner has to approve.
#[action(id = "post.ask", description = "Send a letter.", approval_required)]
async fn ask(outbox: &Outbox, letter: Letter) -> Result<usize, ActionError> {
    Ok(outbox.send(&letter.text))
}

/// Answers what was selected.
#[action(
    id = "post.answer",
    description = "Answer the letter that was selected.",
    selection_token = "email_thread_selection"
)]
async fn answer(outbox: &Outbox, at: &Selection, letter: Letter) -> Result<usize, ActionError> {
    Ok(outbox.send(&format!("{}: {}", at.target, letter.text)))
}

#[derive(Serialize, JsonSchema)]
struct Key {
    key: Secret<String>,
}

const SENTINEL: &str = "swordfish-4711-replayed";

/// Pays, and takes no call without a key.
#[action(
    id = "post.pay",
    description = "Pay for a letter.",
    idempotency_key_required
)]
async fn pay(outbox: &Outbox, letter: Letter) -> Result<usize, ActionError> {
    Ok(outbox.send(&letter.text))
}

/// Makes a secret.
#[action(id = "post.make_key", description = "Make a key.")]
async fn make_key(outbox: &Outbox) -> Result<Key, ActionError> {
    outbox.send("key");
    Ok(Key {
        key: Secret::new(SENTINEL.to_owned()),
    })
}

/// Cannot now.
#[action(id = "post.away", description = "Is away.")]
async fn away(outbox: &Outbox) -> Result<(), ActionError> {
    outbox.send("tried");
    Err(ActionError::unavailable("the post office is shut"))
}

fn home() -> Home {
    let work = Authority {
        name: "work",
        allowed: &[
            "post.send",
            "post.send_slowly",
            "post.ask",
            "post.answer",
            "post.make_key",
            "post.away",
            "post.pay",
        ],
        seconds: 3_600,
        ..Authority::default()
    };
    Home::desk("chat", &[work], "")
}

async fn kernel(outbox: &Outbox, home: Home) -> Here {
    let actions = actum::actions![send, send_slowly, ask, answer, make_key, away, pay];
    let registry = Registry::new(actions, []).unwrap();
    Here::start_with(home, |builder| {
        builder.registry(registry).resource(outbox.clone())
    })
    .await
}

async fn task(kernel: &Here) -> Task {
    let event = json!({
        "event_type": "work", "channel_account": "room",
        "target_refs": [{"type": "email_thread", "id": "thread-7"}],
    });
    kernel.begin("desk", &event).await
}

/// A kernel with a task.
async fn begun() -> (Outbox, Here, Task) {
    let outbox = Outbox::default();
    let kernel = kernel(&outbox, home()).await;
    let task = task(&kernel).await;
    (outbox, kernel, task)
}

fn keyed(key: &str, action: &str, text: &str) -> Value {
    let arguments = match action {
        "post.make_key" | "post.away" => json!({}),
        _ => json!({"text": text}),
    };
    json!({"action": action, "arguments": arguments, "idempotency_key": key})
}

/// The result of a call that was answered well, and whether it is the answer of an earlier one.
fn result(answer: &Answer) -> (Value, bool) {
    assert_eq!(answer.status, 200, "{answer:?}");
    let json = answer.json();
    (json["result"].clone(), json["replayed"] == json!(true))
}

#[tokio::test]
async fn a_retry_returns_the_first_result_and_sends_nothing() {
    let (outbox, kernel, task) = begun().await;
    let first = kernel
        .call(&task.token, &keyed("k", "post.send", "a"))
        .await;
    assert_eq!(result(&first), (json!(1), false));
    for _ in 0..2 {
        let again = kernel
            .call(&task.token, &keyed("k", "post.send", "a"))
            .await;
        assert_eq!(result(&again), (json!(1), true));
        assert_eq!(again.at("/request_id"), first.at("/request_id"));
    }
    // By its tool name and with its arguments written otherwise it is the same call.
    let body = r#"{"idempotency_key":"k","action":"post-send","arguments":{"text":"\u0061"}}"#;
    let again = kernel.post("/v1/actions", Some(&task.token), body).await;
    assert_eq!(result(&again), (json!(1), true));
    assert_eq!(outbox.sent(), ["a"]);

    // Under another key, under none, and in another task it is another call.
    let other = kernel
        .call(&task.token, &keyed("l", "post.send", "a"))
        .await;
    assert_eq!(result(&other), (json!(2), false));
    let none = kernel
        .ask(&task.token, "post.send", json!({"text": "a"}))
        .await;
    assert_eq!(result(&none), (json!(3), false));
    let event = json!({"event_type": "work", "channel_account": "room"});
    let others = kernel.begin("desk", &event).await;
    let theirs = kernel
        .call(&others.token, &keyed("k", "post.send", "a"))
        .await;
    assert_eq!(result(&theirs), (json!(4), false));

    let home = kernel.stopped().await;
    let kinds: Vec<_> = home
        .ledger()
        .await
        .into_iter()
        .map(|(kind, _)| kind)
        .collect();
    let of = |kind: &str| kinds.iter().filter(|one| *one == kind).count();
    assert_eq!((of("call_started"), of("call_replayed")), (4, 3));
}

#[tokio::test]
async fn a_key_is_one_calls_and_no_others() {
    let (outbox, kernel, task) = begun().await;
    let first = kernel
        .call(&task.token, &keyed("k", "post.send", "a"))
        .await;
    assert_eq!(first.status, 200);
    for (action, text) in [("post.send", "b"), ("post.ask", "a"), ("post.make_key", "")] {
        let other = kernel.call(&task.token, &keyed("k", action, text)).await;
        other.refused(409, "input_invalid", "idempotency_key_conflict");
    }
    // What does not fit the schema, or does not exist, is told as ever.
    let mut unfit = keyed("k", "post.send", "a");
    unfit["arguments"] = json!({"text": 1});
    let answer = kernel.call(&task.token, &unfit).await;
    answer.refused(400, "input_invalid", "input_schema_invalid");
    let absent = kernel
        .call(&task.token, &keyed("k", "post.burn", "a"))
        .await;
    absent.refused(404, "operation_absent", "unknown_operation");
    for key in ["", "a b", "ключ", &"k".repeat(129)] {
        let answer = kernel
            .call(&task.token, &keyed(key, "post.send", "b"))
            .await;
        answer.refused(400, "input_invalid", "request_malformed");
    }
    assert_eq!(outbox.sent(), ["a"]);
    // What was refused has used up no key.
    let mut mended = keyed("m", "post.send", "a");
    mended["arguments"] = json!({"text": 1});
    assert_eq!(kernel.call(&task.token, &mended).await.status, 400);
    let mended = kernel
        .call(&task.token, &keyed("m", "post.send", "a"))
        .await;
    assert_eq!(result(&mended), (json!(2), false));
}

#[tokio::test]
async fn what_asks_for_a_key_runs_with_one_alone() {
    let (outbox, kernel, task) = begun().await;
    let shown = kernel.task(&task.token).await.json();
    let tools = shown["catalog"]["tools"].as_array().unwrap().iter();
    let asks: Vec<_> = tools
        .filter(|tool| tool["idempotency_key_required"] == json!(true))
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(asks, ["post-pay"]);
    // What does not fit is told first, as of every call.
    let unfit = kernel.ask(&task.token, "post.pay", json!({})).await;
    unfit.refused(400, "input_invalid", "input_schema_invalid");
    let without = kernel
        .ask(&task.token, "post.pay", json!({"text": "a"}))
        .await;
    without.refused(400, "input_invalid", "idempotency_key_required");
    assert_eq!(outbox.sent(), [""; 0]);
    let with = kernel.call(&task.token, &keyed("k", "post.pay", "a")).await;
    assert_eq!(result(&with), (json!(1), false));
}

#[tokio::test]
async fn retries_that_come_while_it_runs_wait_for_the_one_that_does() {
    let (outbox, kernel, task) = begun().await;
    let body = keyed("k", "post.send_slowly", "a");
    let asking = || {
        let (client, token, body) = ((*kernel).clone(), task.token.clone(), body.clone());
        tokio::spawn(async move { client.call(&token, &body).await })
    };
    let first = asking();
    outbox.begun.notified().await;
    let others: Vec<_> = (0..8).map(|_| asking()).collect();
    // Each is recorded before it waits.
    let mut waiting = 0;
    for _ in 0..2_000 {
        let records = kernel.home.ledger().await;
        waiting = records
            .iter()
            .filter(|(kind, _)| kind == "call_replayed")
            .count();
        if waiting == 8 {
            break;
        }
    }
    assert_eq!(waiting, 8);
    outbox.go_on.notify_one();
    assert_eq!(result(&first.await.unwrap()), (json!(1), false));
    for other in others {
        assert_eq!(result(&other.await.unwrap()), (json!(1), true));
    }
    assert_eq!(outbox.sent(), ["a"]);
}

#[tokio::test]
async fn a_retry_of_what_waits_is_told_of_the_one_that_waits() {
    let (outbox, kernel, task) = begun().await;
    let ask = async |key: &str| kernel.call(&task.token, &keyed(key, "post.ask", "a")).await;
    let (first, again) = (ask("k").await, ask("k").await);
    assert_eq!((first.status, again.status), (202, 202));
    assert_eq!(first.text(), again.text());
    let waiting = kernel.owner_get("/v1/owner/calls").await.json();
    assert_eq!(waiting["calls"].as_array().unwrap().len(), 1);

    let decide = async |answer: &Answer, verb: &str| {
        let path = format!("/v1/owner/calls/{}", answer.at("/request_id"));
        let call = kernel.owner_get(&path).await.json();
        let body = json!({"binding": call["call"]["binding"]});
        let done = kernel.owner_post(&format!("{path}/{verb}"), &body).await;
        assert_eq!(done.status, 200, "{done:?}");
    };
    decide(&first, "approve").await;
    assert_eq!(result(&ask("k").await), (json!(1), true));
    let other = ask("l").await;
    decide(&other, "reject").await;
    let refused = ask("l").await;
    refused.refused(403, "policy_denied", "approval_missing");
    assert_eq!(refused.at("/error/request_id"), other.at("/request_id"));
    let late = ask("m").await;
    assert_eq!(late.status, 202);
    kernel.pass(3_599);
    ask("m")
        .await
        .refused(403, "policy_denied", "approval_expired");
    assert_eq!(outbox.sent(), ["a"]);
}

#[tokio::test]
async fn a_retry_presents_the_token_that_the_first_call_spent() {
    let (outbox, kernel, task) = begun().await;
    let body = |key: &str| {
        let mut body = keyed(key, "post.answer", "a");
        body["selection_token"] = json!(task.selections[0]);
        body
    };
    let first = kernel.call(&task.token, &body("k")).await;
    assert_eq!(result(&first), (json!(1), false));
    assert_eq!(
        result(&kernel.call(&task.token, &body("k")).await),
        (json!(1), true)
    );
    // Spent is spent: under another key, and without it.
    let other = kernel.call(&task.token, &body("l")).await;
    other.refused(403, "policy_denied", "selection_token_invalid");
    let without = keyed("k", "post.answer", "a");
    let without = kernel.call(&task.token, &without).await;
    without.refused(403, "policy_denied", "selection_token_invalid");
    assert_eq!(outbox.sent(), ["thread-7: a"]);
}

#[tokio::test]
async fn a_retry_never_has_the_secret_that_the_first_answer_had() {
    let (outbox, kernel, task) = begun().await;
    let body = keyed("k", "post.make_key", "");
    let first = kernel.call(&task.token, &body).await;
    assert!(first.text().contains(SENTINEL), "{first:?}");
    let again = kernel.call(&task.token, &body).await;
    assert_eq!(result(&again), (json!({"key": "[SECRET]"}), true));
    assert!(!again.text().contains("model-only"), "{again:?}");
    assert_eq!(outbox.sent(), ["key"]);
    for entry in std::fs::read_dir(kernel.home.data()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let holds = |text: &[u8]| bytes.windows(text.len()).any(|part| part == text);
        assert!(!holds(SENTINEL.as_bytes()), "{}", path.display());
    }
}

#[tokio::test]
async fn a_failure_is_replayed_too_and_what_was_done_before_a_restart() {
    let outbox = Outbox::default();
    let kernel_one = kernel(&outbox, home()).await;
    let task = task(&kernel_one).await;
    let (send, away) = (keyed("k", "post.send", "a"), keyed("l", "post.away", ""));
    assert_eq!(kernel_one.call(&task.token, &send).await.status, 200);
    for _ in 0..2 {
        let answer = kernel_one.call(&task.token, &away).await;
        answer.refused(422, "operation_unsupported", "unavailable");
    }
    let home = kernel_one.stopped().await;
    let kernel_two = kernel(&outbox, home).await;
    let again = kernel_two.call(&task.token, &send).await;
    assert_eq!(result(&again), (json!(1), true));
    let again = kernel_two.call(&task.token, &away).await;
    again.refused(422, "operation_unsupported", "unavailable");
    assert_eq!(outbox.sent(), ["a", "tried"]);
}
