//! `telegram.reply:owner_channel` against a Bot API on loopback.

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
use support::home::{Authority, Home};
use support::kernel::Program;
use support::telegram::{BOT_TOKEN, BotApi, Reply};

const SEND: &str = "telegram.reply:owner_channel";

/// A kernel whose tasks may send without approval, for events of this source.
fn kernel(source: &str, telegram: &str) -> Program {
    let authority = Authority {
        name: "message",
        allowed: &[SEND],
        channels: &["telegram.owner.reply"],
        ..Authority::default()
    };
    let home = Home::desk(source, &[authority], telegram);
    home.write("bot.token", &format!("{BOT_TOKEN}\n"));
    Program::start(home)
}

/// A task that came from this chat.
async fn from(kernel: &Program, chat: &str) -> Task {
    let event = json!({"event_type": "message", "channel_account": chat});
    kernel.begin("desk", &event).await
}

async fn send(kernel: &Program, task: &Task, text: &str) -> Answer {
    kernel.ask(&task.token, SEND, json!({"text": text})).await
}

/// Asserts that the token is in nothing that the kernel wrote or answered.
fn token_is_nowhere(kernel: &Program, answers: &[Answer]) {
    let secret = BOT_TOKEN.split_once(':').unwrap().1.as_bytes();
    let holds = |bytes: &[u8]| bytes.windows(secret.len()).any(|window| window == secret);
    for (path, bytes) in kernel.home.traces() {
        assert!(!holds(&bytes), "the bot's token in {}", path.display());
    }
    for answer in answers {
        assert!(!format!("{answer:?}").contains(BOT_TOKEN), "{answer:?}");
    }
}

#[tokio::test]
async fn a_message_goes_to_the_chat_that_the_task_came_from() {
    let bot = BotApi::sending().await;
    let kernel = kernel("telegram", &bot.config());
    let (one, other) = (from(&kernel, "4711").await, from(&kernel, "-100815").await);
    let text = "Grüße & <b>mehr</b>\n🌷";
    let sent = send(&kernel, &one, text).await;
    assert_eq!(sent.status, 200, "{sent:?}");
    assert_eq!(sent.json()["result"], json!({"message_id": 77}));
    assert_eq!(send(&kernel, &other, "Hello").await.status, 200);

    let path = format!("/bot{BOT_TOKEN}/sendMessage");
    assert_eq!(
        bot.asked(),
        [
            (path.clone(), json!({"chat_id": "4711", "text": text})),
            (path, json!({"chat_id": "-100815", "text": "Hello"})),
        ]
    );
    token_is_nowhere(&kernel, &[sent]);
}

#[tokio::test]
async fn the_model_cannot_name_a_chat() {
    let bot = BotApi::sending().await;
    let kernel = kernel("telegram", &bot.config());
    let task = from(&kernel, "4711").await;
    for name in ["chat_id", "chat", "to", "account", "reply_to"] {
        let arguments = json!({"text": "Hello", name: "666"});
        let answer = kernel.ask(&task.token, SEND, arguments).await;
        answer.refused(400, "input_invalid", "input_schema_invalid");
    }
    assert_eq!(bot.asked(), []);
}

#[tokio::test]
async fn a_task_from_elsewhere_sends_nothing() {
    let bot = BotApi::sending().await;
    let kernel = kernel("webchat", &bot.config());
    let task = from(&kernel, "4711").await;
    let answer = send(&kernel, &task, "Hello").await;
    answer.refused(422, "operation_unsupported", "unavailable");
    assert_eq!(bot.asked(), []);
}

#[tokio::test]
async fn without_a_bot_the_action_is_unavailable_and_says_so_by_type() {
    let kernel = kernel("telegram", "");
    let task = from(&kernel, "4711").await;
    assert_eq!(
        kernel.tools(&task.token).await,
        ["telegram-reply--owner_channel"]
    );
    let answer = send(&kernel, &task, "Hello").await;
    answer.refused(422, "operation_unsupported", "unavailable");
    let state = kernel
        .state(&task.token, &answer.at("/error/request_id"))
        .await;
    assert_eq!(state.at("/state"), "failed");
    assert!(kernel.log().contains("no Telegram bot is configured"));
}

#[tokio::test]
async fn a_failure_of_the_bot_api_is_told_without_its_words() {
    let bot = BotApi::sending().await;
    let kernel = kernel("telegram", &bot.config());
    let task = from(&kernel, "4711").await;
    let mut answers = Vec::new();
    let unknown = |reply| (reply, "outcome_unknown", "outcome_unknown");
    let failed = |reply| (reply, "operation_failed", "failed");
    for (reply, reason, state) in [
        failed(Reply::Json(
            400,
            json!({"ok": false, "error_code": 400, "description": "ZANZIBAR not found"}),
        )),
        failed(Reply::Json(
            200,
            json!({"ok": false, "description": "ZANZIBAR"}),
        )),
        failed(Reply::Text(404, "<html>ZANZIBAR</html>")),
        // The message may have gone out.
        unknown(Reply::Json(
            200,
            json!({"ok": true, "description": "ZANZIBAR"}),
        )),
        unknown(Reply::Json(
            200,
            json!({"ok": true, "result": {"message_id": "ZANZIBAR"}}),
        )),
        unknown(Reply::Json(200, json!(["ZANZIBAR"]))),
        unknown(Reply::Text(502, "<html>ZANZIBAR</html>")),
        unknown(Reply::Text(200, "")),
    ] {
        let why = format!("{reply:?}");
        bot.reply(reply);
        let answer = send(&kernel, &task, "Hello").await;
        answer.refused(422, "operation_unsupported", reason);
        assert!(!answer.text().contains("ZANZIBAR"), "{why}: {answer:?}");
        let told = kernel
            .state(&task.token, &answer.at("/error/request_id"))
            .await;
        assert_eq!(told.at("/state"), state, "{why}");
        assert!(!told.text().contains("ZANZIBAR"), "{why}: {told:?}");
        answers.push(answer);
    }
    assert_eq!(bot.asked().len(), answers.len());
    // The operator finds the words in the log; the ledger keeps the reason alone.
    assert!(kernel.log().contains("ZANZIBAR not found"));
    let ledger = kernel.home.ledger().await;
    let ended: Vec<(&str, &Value)> = ledger
        .iter()
        .filter(|(kind, _)| kind == "call_failed" || kind == "call_outcome_unknown")
        .map(|(kind, body)| (kind.as_str(), body))
        .collect();
    assert_eq!(ended.len(), answers.len());
    for (kind, body) in ended {
        let reason = match kind {
            "call_failed" => "operation_failed",
            _ => "told_by_handler",
        };
        assert_eq!(body["reason"], reason);
        assert!(!body.to_string().contains("ZANZIBAR"), "{body}");
    }
    token_is_nowhere(&kernel, &answers);
}

#[tokio::test]
async fn a_bot_api_that_is_not_there_is_told_without_the_token() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let config = format!("telegram: {{ base_url: \"http://{address}\", token_file: bot.token }}");
    let kernel = kernel("telegram", &config);
    let task = from(&kernel, "4711").await;
    let answer = send(&kernel, &task, "Hello").await;
    answer.refused(422, "operation_unsupported", "unavailable");
    assert!(kernel.log().contains("Telegram: "), "the operator is told");
    token_is_nowhere(&kernel, &[answer]);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = BotApi::sending().await;
    let bot = BotApi::start(Reply::Redirect(format!(
        "{}/bot/sendMessage",
        elsewhere.url
    )))
    .await;
    let kernel = kernel("telegram", &bot.config());
    let task = from(&kernel, "4711").await;
    let answer = send(&kernel, &task, "Hello").await;
    answer.refused(422, "operation_unsupported", "operation_failed");
    assert_eq!(bot.asked().len(), 1);
    assert_eq!(elsewhere.asked(), []);
}

#[tokio::test]
async fn a_base_url_may_have_a_path_of_its_own() {
    let bot = BotApi::sending().await;
    for (base, path) in [("/proxy", "/proxy"), ("/proxy/", "/proxy"), ("/", "")] {
        let config = format!(
            "telegram: {{ base_url: \"{}{base}\", token_file: bot.token }}",
            bot.url
        );
        let kernel = kernel("telegram", &config);
        let task = from(&kernel, "4711").await;
        assert_eq!(send(&kernel, &task, "Hello").await.status, 200);
        let (asked, _) = bot.asked().pop().unwrap();
        assert_eq!(asked, format!("{path}/bot{BOT_TOKEN}/sendMessage"));
    }
}
