//! An action that a worker's view does not show does not exist for it: whatever it posts, and for
//! whatever reason the action is absent, the answer is that of an id that was never heard of.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use serde_json::{Value, json};

use support::answer::Answer;
use support::client::Task;
use support::home::Home;
use support::kernel::Program;
use support::telegram::{BOT_TOKEN, BotApi};

const TERMINAL: &str = "terminal.reply:owner_device";

/// A kernel with the sample and a bot that could send.
async fn kernel() -> (Program, BotApi) {
    let bot = BotApi::sending().await;
    let home = Home::sample();
    home.configure(&bot.config());
    home.write("bot.token", BOT_TOKEN);
    (Program::start(home), bot)
}

async fn stranger(kernel: &Program) -> Task {
    let event = json!({"event_type": "chat.message", "channel_account": "front-page"});
    kernel.begin("public_chat", &event).await
}

async fn owner(kernel: &Program) -> Task {
    let event = json!({
        "event_type": "chat.message", "channel_account": "front-page",
        "actor_hint": {"handle": "robin"},
    });
    kernel.begin("signed_in_chat", &event).await
}

/// The answer to a call, its operation's echo taken out.
async fn ask(kernel: &Program, token: &str, call: &Value) -> Answer {
    let operation = call["action"].as_str().unwrap();
    let answer = kernel.call(token, call).await;
    let echoed = answer.json()["error"]["operation_id"].clone();
    assert_eq!(echoed, operation, "{}", answer.text());
    answer.without_operation(operation)
}

/// What a stranger's task does not show, for every reason there is.
const DENIED: &str = "openspine.status.read";
const OUT_OF_REACH: &str = "telegram.reply:owner_channel";
const DENIED_WITH_TOKEN: &str = "email.read_thread:selected_no_attachments";
const NOT_DISPATCHABLE: &str = "connector.enable";
const DENIED_EVERYWHERE: &str = "policy.change_proposal";
const UNKNOWN: &str = "does.not.exist";

/// Ways to write an action that is shown, of which none is its id or its tool name.
fn misspellings() -> Vec<String> {
    [
        "terminal.reply",
        "terminal.reply:",
        "terminal.reply:owner_devices",
        "terminal.reply:owner_devic",
        "terminal.reply:owner-device",
        "terminal.reply.owner_device",
        "terminal:reply:owner_device",
        "Terminal.reply:owner_device",
        "TERMINAL.REPLY:OWNER_DEVICE",
        "terminal.reply:Owner_Device",
        " terminal.reply:owner_device",
        "terminal.reply:owner_device ",
        "terminal.reply:owner_device\n",
        "terminal.reply:owner_device\u{0}",
        "\u{feff}terminal.reply:owner_device",
        "terminal.reply: owner_device",
        "terminal .reply:owner_device",
        "terminal.reply:owner_device,openspine.status.read",
        "terminal.*",
        "*",
        "terminal%2Ereply:owner_device",
        "terminal/reply:owner_device",
        // A Cyrillic letter, full width, and a combining accent.
        "termin\u{430}l.reply:owner_device",
        "ｔerminal.reply:owner_device",
        "te\u{301}rminal.reply:owner_device",
        // Halves of an id and of a tool name.
        "terminal-reply:owner_device",
        "terminal.reply--owner_device",
        "terminal-reply-owner_device",
        "terminal_reply__owner_device",
        "Terminal-reply--owner_device",
        "terminal-reply--owner_device ",
        "",
        " ",
        ".",
        ":",
        "--",
        "null",
        "../v1/task",
        "🌷",
    ]
    .into_iter()
    .map(str::to_owned)
    .chain([
        "a".repeat(64),
        "a".repeat(65),
        "a.".repeat(5_000),
        "é".repeat(50_000),
    ])
    .collect()
}

#[tokio::test]
async fn every_absent_action_gets_the_very_answer_of_an_unknown_one() {
    let (kernel, bot) = kernel().await;
    let token = stranger(&kernel).await.token;
    let arguments = json!({"text": "Let me in."});
    let call = |action: &str| json!({"action": action, "arguments": arguments});
    let unknown = ask(&kernel, &token, &call(UNKNOWN)).await;
    unknown.refused(404, "operation_absent", "unknown_operation");

    let absent = [
        DENIED,
        OUT_OF_REACH,
        DENIED_WITH_TOKEN,
        NOT_DISPATCHABLE,
        DENIED_EVERYWHERE,
        "route.activate",
        // The same by their tool names.
        "openspine-status-read",
        "telegram-reply--owner_channel",
        "email-read_thread--selected_no_attachments",
        "connector-enable",
        "does-not-exist",
    ];
    for action in absent.map(str::to_owned).into_iter().chain(misspellings()) {
        let answer = ask(&kernel, &token, &call(&action)).await;
        assert_eq!(answer, unknown, "{action:?}");
    }

    // None of them ran, in any guise.
    assert_eq!(kernel.messages().await, [""; 0]);
    assert_eq!(bot.asked(), []);
    assert_eq!(kernel.home.calls().await, []);
    // The action that is shown runs under its id and under its tool name, so the spellings counted.
    for shown in [TERMINAL, "terminal-reply--owner_device"] {
        let answer = kernel.ask(&token, shown, arguments.clone()).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    assert_eq!(kernel.messages().await, ["Let me in."; 2]);
}

#[tokio::test]
async fn what_is_granted_and_cannot_be_dispatched_is_as_absent_as_the_rest() {
    let (kernel, _bot) = kernel().await;
    let token = owner(&kernel).await.token;
    let unknown = ask(&kernel, &token, &json!({"action": UNKNOWN})).await;
    for action in [
        "route.activate",
        NOT_DISPATCHABLE,
        DENIED_EVERYWHERE,
        DENIED_WITH_TOKEN,
    ] {
        let answer = ask(&kernel, &token, &json!({"action": action})).await;
        assert_eq!(answer, unknown, "{action}");
    }
    assert_eq!(kernel.home.calls().await, []);
}

#[tokio::test]
async fn nothing_that_comes_with_the_call_of_an_absent_action_changes_its_answer() {
    let (kernel, bot) = kernel().await;
    let token = stranger(&kernel).await.token;
    let selected = kernel.select("Dripping pipe").await;
    let foreign_selection = selected.selections[0].as_str();
    let unknown = ask(&kernel, &token, &json!({"action": UNKNOWN})).await;

    let companions = [
        json!({}),
        json!({"arguments": {}}),
        json!({"arguments": {"text": "fits the schema"}}),
        json!({"arguments": {"max_messages": 1}}),
        json!({"arguments": {"text": 7, "max_messages": "all", "colour": [null]}}),
        json!({"arguments": {"text": ""}}),
        json!({"arguments": {"text": "x".repeat(50_000)}}),
        json!({"arguments": {"__proto__": {"a": {"b": [1.5, {}]}}, "": 1e300}}),
        json!({"selection_token": "nonsense"}),
        json!({"selection_token": ""}),
        json!({"selection_token": null}),
        json!({"selection_token": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}),
        json!({"selection_token": foreign_selection}),
        json!({"selection_token": foreign_selection, "arguments": {"max_messages": 1}}),
    ];
    for action in [
        DENIED,
        OUT_OF_REACH,
        DENIED_WITH_TOKEN,
        NOT_DISPATCHABLE,
        UNKNOWN,
    ] {
        for companion in &companions {
            let mut call = companion.clone();
            call["action"] = json!(action);
            let answer = ask(&kernel, &token, &call).await;
            assert_eq!(answer, unknown, "{action} with {companion}");
        }
    }
    assert_eq!(bot.asked(), []);
    assert_eq!(kernel.home.calls().await, []);

    // The foreign token is as good as before: it is still its own task's to spend.
    let call = json!({
        "action": DENIED_WITH_TOKEN, "arguments": {"max_messages": 1},
        "selection_token": foreign_selection,
    });
    assert_eq!(kernel.call(&selected.token, &call).await.status, 200);
}

#[tokio::test]
async fn a_malformed_call_is_told_the_same_whatever_action_it_names() {
    let (kernel, _bot) = kernel().await;
    let token = stranger(&kernel).await.token;
    for malformed in [
        r#"{"action": ACTION, "arguments": null}"#,
        r#"{"action": ACTION, "arguments": []}"#,
        r#"{"action": ACTION, "arguments": {}, "approved": true}"#,
        r#"{"action": ACTION, "selection_token": 5}"#,
        r#"{"action": ACTION"#,
        r#"{"action": [ACTION]}"#,
    ] {
        let answer = async |action: &str| {
            let body = malformed.replace("ACTION", &json!(action).to_string());
            kernel.post("/v1/actions", Some(&token), body).await
        };
        // As long as each other, so that a column in a message is the same too.
        let (denied, unknown) = (answer(DENIED).await, answer("does.not.exist.either").await);
        denied.refused(400, "input_invalid", "request_malformed");
        assert_eq!(denied, unknown, "{malformed}");
    }
}

#[tokio::test]
async fn the_ledger_has_the_reason_that_the_worker_is_not_told() {
    let (kernel, _bot) = kernel().await;
    let (low, high) = (stranger(&kernel).await, owner(&kernel).await);
    let long = "a".repeat(3_000);
    let expected = [
        (&low, DENIED, "explicit_deny"),
        (&low, OUT_OF_REACH, "output_channel_not_granted"),
        (&low, NOT_DISPATCHABLE, "not_granted"),
        (&low, DENIED_EVERYWHERE, "explicit_deny"),
        (&low, UNKNOWN, "unknown_action"),
        (&low, "Terminal.reply:owner_device", "unknown_action"),
        (&low, long.as_str(), "unknown_action"),
        (&high, "route.activate", "not_dispatchable"),
        (&high, DENIED_WITH_TOKEN, "selection_token_invalid"),
    ];
    for (task, action, reason) in &expected {
        let answer = kernel.ask(&task.token, action, json!({})).await;
        answer.refused(404, "operation_absent", "unknown_operation");
        assert!(!answer.text().contains(reason), "{}", answer.text());
    }

    let ledger = kernel.home.ledger().await;
    let refused: Vec<&Value> = ledger
        .iter()
        .filter(|(kind, _)| kind == "call_refused")
        .map(|(_, body)| body)
        .collect();
    assert_eq!(refused.len(), expected.len());
    for (body, (task, action, reason)) in refused.iter().zip(&expected) {
        assert_eq!(body["reason"], *reason, "{action}");
        assert_eq!(body["task"], *task.id, "{action}");
        let recorded = body["action"].as_str().unwrap();
        // Of what is very long a piece is kept.
        assert!(
            recorded.len() <= 128 && action.starts_with(recorded),
            "{body}"
        );
        assert!(!recorded.is_empty());
    }
}
