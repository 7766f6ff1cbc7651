//! A call that needs the owner's approval: shown as such, held, and nothing more.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use serde_json::{Value, json};

use support::client::Task;
use support::home::Home;
use support::kernel::Program;
use support::telegram::{BOT_TOKEN, BotApi};

/// In the sample, the owner's assistant may send on Telegram once the owner approves.
const SEND: &str = "telegram.reply:owner_channel";

async fn kernel() -> (Program, BotApi, Task) {
    let bot = BotApi::sending().await;
    let home = Home::sample();
    home.configure(&bot.config());
    home.write("bot.token", BOT_TOKEN);
    let kernel = Program::start(home);
    let event = json!({
        "event_type": "chat.message", "channel_account": "front-page",
        "actor_hint": {"handle": "robin"},
    });
    let task = kernel.begin("signed_in_chat", &event).await;
    (kernel, bot, task)
}

fn text(words: &str) -> Value {
    json!({"text": words})
}

#[tokio::test]
async fn what_needs_approval_is_shown_and_marked_and_nothing_else_is() {
    let (kernel, _bot, task) = kernel().await;
    let view = kernel.task(&task.token).await.json();
    let marks: Vec<(&str, bool)> = view["catalog"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| {
            (
                tool["name"].as_str().unwrap(),
                tool["approval_required"].as_bool().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        marks,
        [
            ("lyra-ui-preview", true),
            ("openspine-status-read", false),
            ("plan-propose", true),
            ("skill-context", false),
            ("telegram-reply--owner_channel", true),
            ("terminal-reply--owner_device", false),
            ("worker-commission", false),
            ("worker-failed", false),
            ("worker-report_result", false)
        ]
    );
}

#[tokio::test]
async fn a_call_that_needs_approval_is_held_and_runs_nothing() {
    let (kernel, bot, task) = kernel().await;
    for action in [SEND, "telegram-reply--owner_channel"] {
        let answer = kernel.ask(&task.token, action, text("Hello")).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        let (request_id, status_url) = (answer.at("/request_id"), answer.at("/status_url"));
        assert_eq!(
            answer.json(),
            json!({
                "ok": true, "request_id": request_id, "decision": "approval_required",
                "status_url": format!("/v1/actions/{request_id}"),
            })
        );
        let state = kernel.get(&status_url, Some(&task.token)).await;
        assert_eq!(state.status, 200, "{state:?}");
        assert_eq!(
            state.json(),
            json!({"ok": true, "request_id": request_id, "action": SEND, "state": "pending"})
        );
    }
    assert_eq!(bot.asked(), []);
    let held = (SEND.to_owned(), "pending".to_owned());
    assert_eq!(kernel.home.calls().await, [held.clone(), held]);

    let ledger = kernel.home.ledger().await;
    let kinds: Vec<&str> = ledger.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(
        kinds,
        [
            "kernel_started",
            "grant_issued",
            "call_pending",
            "call_pending"
        ]
    );
    assert_eq!(ledger[2].1["action"], SEND);
}

#[tokio::test]
async fn a_worker_cannot_approve_what_it_asked_for() {
    let (kernel, bot, task) = kernel().await;
    let held = kernel
        .ask(&task.token, SEND, text("Hello"))
        .await
        .at("/request_id");

    for (field, value) in [
        ("approved", json!(true)),
        ("approval", json!({"decision": "approved"})),
        ("approval_id", json!(held)),
        ("approval_required", json!(false)),
        ("decision", json!("approved")),
        ("origin", json!("kernel")),
        ("owner", json!(true)),
    ] {
        let mut call = json!({"action": SEND, "arguments": text("Hello")});
        call[field] = value;
        let answer = kernel.call(&task.token, &call).await;
        answer.refused(400, "input_invalid", "request_malformed");
        assert!(answer.text().contains(&format!("`{field}`")), "{answer:?}");
    }
    let mut arguments = text("Hello");
    arguments["approved"] = json!(true);
    let answer = kernel.ask(&task.token, SEND, arguments).await;
    answer.refused(400, "input_invalid", "input_schema_invalid");

    // No door lets a task's token decide, and saying it again is one more request.
    for path in ["approve", "approval", "decision"] {
        let path = format!("/v1/actions/{held}/{path}");
        let answer = kernel.post(&path, Some(&task.token), "{}").await;
        assert_eq!(answer.status, 404, "{answer:?}");
    }
    let answer = kernel
        .post(&format!("/v1/actions/{held}"), Some(&task.token), "{}")
        .await;
    assert_eq!(answer.status, 405, "{answer:?}");
    let answer = kernel
        .post("/v1/owner/selections", Some(&task.token), "{}")
        .await;
    answer.refused(401, "unauthenticated", "token_invalid");
    let again = kernel.ask(&task.token, SEND, text("Hello")).await;
    assert_eq!(again.status, 202, "{again:?}");
    assert_ne!(again.at("/request_id"), held);

    assert_eq!(bot.asked(), []);
    let calls = kernel.home.calls().await;
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert!(
        calls.iter().all(|(_, state)| state == "pending"),
        "{calls:?}"
    );
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_before_anything_is_held() {
    let (kernel, bot, task) = kernel().await;
    for arguments in [
        json!({}),
        json!({"text": ""}),
        json!({"text": 5}),
        json!({"text": null}),
        json!({"text": "x".repeat(4_001)}),
        json!({"text": "Hello", "chat_id": "1"}),
    ] {
        let answer = kernel.ask(&task.token, SEND, arguments).await;
        answer.refused(400, "input_invalid", "input_schema_invalid");
        assert_eq!(answer.at("/error/operation_id"), SEND);
    }
    assert_eq!(kernel.home.calls().await, []);
    assert_eq!(bot.asked(), []);
    let refused = kernel.home.ledger().await;
    let reasons: Vec<&Value> = refused
        .iter()
        .filter(|(kind, _)| kind == "call_refused")
        .map(|(_, body)| &body["reason"])
        .collect();
    assert_eq!(reasons, ["input_schema_invalid"; 6]);
}

#[tokio::test]
async fn what_is_held_is_still_held_after_a_restart() {
    let (kernel, bot, task) = kernel().await;
    let held = kernel
        .ask(&task.token, SEND, text("Hello"))
        .await
        .at("/request_id");
    kernel.terminate();
    let (status, home) = kernel.ended();
    assert!(status.success(), "{status}");
    let kernel = Program::start(std::sync::Arc::into_inner(home).unwrap());
    let state = kernel.state(&task.token, &held).await;
    assert_eq!(state.at("/state"), "pending");
    assert_eq!(bot.asked(), []);
}
