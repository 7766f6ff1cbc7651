//! What a handler and its client tell and ask each other while a call runs.

// Logs and questions of the revisions that have sessions.
#![expect(deprecated)]

use std::sync::{Arc, Mutex};

use actum::caller::{Caller, Level, Reply};
use actum::content::{Block, Content};
use actum::{ActionError, Registry, Secret, action};
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, CreateMessageRequestParams,
    CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData,
    Implementation, LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam,
    SamplingMessage, SetLevelRequestParams,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::support::home::{Authority, Home};
use super::support::kernel::Here;
use super::{SOON, call, connected, message, refused};

#[action(id = "line.count", description = "Count to three.", read_only)]
async fn count(caller: &Caller) -> Result<u8, ActionError> {
    for step in 1..=3u8 {
        caller.progress(step.into(), Some(3.0), "counting").await;
    }
    Ok(3)
}

#[action(id = "line.log", description = "Log at each level.", read_only)]
async fn log(caller: &Caller) -> Result<u8, ActionError> {
    let key = Secret::new("sentinel-4711".to_owned());
    caller.log(Level::Debug, "for those who look").await;
    caller
        .log(Level::Warning, &format!("with {}", key.expose()))
        .await;
    Ok(2)
}

#[action(id = "line.ask", description = "Ask for a colour.", read_only)]
async fn ask(caller: &Caller) -> Result<String, ActionError> {
    let form = json!({
        "type": "object",
        "properties": {"colour": {"type": "string"}},
        "required": ["colour"],
    });
    Ok(match caller.elicit("Which colour?", form).await {
        Ok(Reply::Accepted(form)) => format!("accepted {}", form["colour"]),
        Ok(Reply::Declined) => "declined".to_owned(),
        Ok(Reply::Dismissed) => "dismissed".to_owned(),
        Ok(other) => format!("{other:?}"),
        Err(cannot) => cannot.to_string(),
    })
}

#[action(id = "line.think", description = "Have the model think.", read_only)]
async fn think(caller: &Caller) -> Result<String, ActionError> {
    Ok(match caller.sample("A word for blue?", 20).await {
        Ok(text) => format!("it wrote {text}"),
        Err(cannot) => cannot.to_string(),
    })
}

/// Tell the test that it runs, and that it was cancelled.
static RUNS: Notify = Notify::const_new();
static CANCELLED: Notify = Notify::const_new();

#[action(id = "line.wait", description = "Wait to be cancelled.", read_only)]
async fn wait(caller: &Caller) -> Result<u8, ActionError> {
    RUNS.notify_one();
    caller.cancelled().await;
    CANCELLED.notify_one();
    Ok(1)
}

#[action(id = "line.panic", description = "Panic.", read_only)]
async fn panics() -> Result<u8, ActionError> {
    panic!("as it is to")
}

#[action(id = "line.show", description = "Show a picture.", read_only)]
async fn show() -> Result<Content, ActionError> {
    Ok(Content::text("Look:")
        .and(Block::image(b"pixels", "image/png"))
        .and(Block::audio(b"waves", "audio/wav"))
        .and(Block::document("note:1", "text/plain", "Hello")))
}

async fn kernel() -> (Here, String) {
    let ids = [
        "line.count",
        "line.log",
        "line.ask",
        "line.think",
        "line.wait",
        "line.panic",
        "line.show",
    ];
    let authority = Authority {
        name: "work",
        allowed: &ids,
        ..Authority::default()
    };
    let actions = actum::actions![count, log, ask, think, wait, panics, show];
    let registry = Registry::new(actions, []).unwrap();
    let home = Home::desk("chat", &[authority], "");
    let kernel = Here::start_with(home, |builder| builder.registry(registry)).await;
    let event = json!({"event_type": "work", "channel_account": "desk"});
    let token = kernel.begin("desk", &event).await.token;
    (kernel, token)
}

/// A client that can do everything, and notes what it is told.
#[derive(Clone, Default)]
struct Able {
    told: Arc<Mutex<Vec<String>>>,
    heard: Arc<Notify>,
    answers: Arc<Mutex<Vec<ElicitResult>>>,
}

impl ClientHandler for Able {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder()
            .enable_elicitation()
            .enable_sampling()
            .build();
        ClientConfig::new(capabilities, Implementation::new("able", "1"))
    }

    async fn on_progress(
        &self,
        told: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let line = format!("{} of {:?}: {:?}", told.progress, told.total, told.message);
        self.told.lock().unwrap().push(line);
        self.heard.notify_one();
    }

    async fn on_logging_message(
        &self,
        told: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let line = format!("{:?}: {}", told.level, told.data);
        self.told.lock().unwrap().push(line);
        self.heard.notify_one();
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = asked else {
            panic!("{asked:?}");
        };
        assert_eq!(message, "Which colour?");
        Ok(self.answers.lock().unwrap().pop().unwrap())
    }

    async fn create_message(
        &self,
        asked: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        assert_eq!(asked.max_tokens, 20);
        let written = SamplingMessage::assistant_text("azure");
        Ok(CreateMessageResult::new(written, "a-model".to_owned()))
    }
}

async fn text(client: &rmcp::Peer<RoleClient>, name: &'static str) -> String {
    let done = client
        .call_tool(CallToolRequestParams::new(name))
        .await
        .unwrap();
    done.content[0].as_text().unwrap().text.clone()
}

#[tokio::test]
async fn progress_reaches_whoever_asked_for_it_in_order() {
    let (kernel, token) = kernel().await;
    let able = Able::default();
    let client = connected(&kernel, &token, able.clone()).await;
    assert_eq!(text(client.peer(), "line-count").await, "3");
    let hear = async {
        while able.told.lock().unwrap().len() < 3 {
            able.heard.notified().await;
        }
    };
    tokio::time::timeout(SOON, hear).await.expect("it is told");
    let told = able.told.lock().unwrap().clone();
    let expected = [1, 2, 3].map(|step| format!("{step} of Some(3.0): Some(\"counting\")"));
    assert_eq!(told, expected);
    client.cancel().await.unwrap();
    // Whoever gave no token for it hears nothing: the one answer is JSON.
    let silent = kernel.mcp(&token, &call("line-count", json!({}))).await;
    assert_eq!(silent.headers["content-type"], [b"application/json"]);
}

#[tokio::test]
async fn logs_reach_the_client_from_the_level_that_it_wants_on_and_without_secrets() {
    let (kernel, token) = kernel().await;
    let able = Able::default();
    let client = connected(&kernel, &token, able.clone()).await;
    client
        .set_level(SetLevelRequestParams::new(LoggingLevel::Info))
        .await
        .unwrap();
    assert_eq!(text(client.peer(), "line-log").await, "2");
    let hear = async {
        while able.told.lock().unwrap().is_empty() {
            able.heard.notified().await;
        }
    };
    tokio::time::timeout(SOON, hear).await.expect("it is told");
    let told = able.told.lock().unwrap().clone();
    assert_eq!(told, ["Warning: \"with [SECRET]\""]);
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_person_and_a_model_can_be_asked_where_the_client_has_them() {
    let (kernel, token) = kernel().await;
    let able = Able::default();
    let mut accepted = ElicitResult::new(ElicitationAction::Accept);
    accepted.content = Some(json!({"colour": "blue"}));
    for (answer, told) in [
        (accepted, "accepted \"blue\""),
        (ElicitResult::new(ElicitationAction::Decline), "declined"),
        (ElicitResult::new(ElicitationAction::Cancel), "dismissed"),
    ] {
        able.answers.lock().unwrap().push(answer);
        let client = connected(&kernel, &token, able.clone()).await;
        assert_eq!(text(client.peer(), "line-ask").await, told);
        assert_eq!(text(client.peer(), "line-think").await, "it wrote azure");
        client.cancel().await.unwrap();
    }
    // A client without them, a request of no session, and the HTTP door.
    let client = connected(&kernel, &token, ()).await;
    let by_http = async |id: &str| kernel.ask(&token, id, json!({})).await.at("/result");
    for (name, id) in [("line-ask", "line.ask"), ("line-think", "line.think")] {
        let cannot = "the worker cannot be asked: ";
        assert!(text(client.peer(), name).await.starts_with(cannot));
        let sessionless = kernel.mcp(&token, &call(name, json!({}))).await;
        let told = sessionless.at("/result/content/0/text");
        assert!(told.starts_with(cannot), "{told}");
        assert!(by_http(id).await.starts_with(cannot));
    }
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_handler_hears_that_its_client_wants_the_call_no_more() {
    let (kernel, token) = kernel().await;
    let client = connected(&kernel, &token, ()).await;
    let request = rmcp::model::ClientRequest::CallToolRequest(rmcp::model::CallToolRequest::new(
        CallToolRequestParams::new("line-wait"),
    ));
    let under_way = client
        .send_cancellable_request(request, PeerRequestOptions::no_options())
        .await
        .unwrap();
    let soon = async |notify: &Notify| tokio::time::timeout(SOON, notify.notified()).await.is_ok();
    assert!(soon(&RUNS).await, "it runs");
    under_way.cancel(Some("enough".to_owned())).await.unwrap();
    assert!(soon(&CANCELLED).await, "it is told");
    client.cancel().await.unwrap();

    // Without a session, hanging up says so.
    let waits = call("line-wait", json!({}));
    tokio::select! {
        _ = kernel.mcp(&token, &waits) => panic!("nobody ends it"),
        is_running = soon(&RUNS) => assert!(is_running),
    }
    assert!(soon(&CANCELLED).await, "it is told");
    let home = kernel.stopped().await;
    let calls = home.calls().await;
    let ended = ("line.wait".to_owned(), "succeeded".to_owned());
    assert_eq!(calls, [ended.clone(), ended]);
}

#[tokio::test]
async fn a_panic_is_one_answered_call() {
    let (kernel, token) = kernel().await;
    let answer = kernel
        .mcp(&token, &call("line-panic", json!({})))
        .await
        .json();
    assert_eq!(refused(&answer), "operation_failed");
    assert!(!answer.to_string().contains("as it is to"), "{answer}");
}

#[tokio::test]
async fn blocks_are_shown_as_they_are_and_are_json_by_other_doors() {
    let (kernel, token) = kernel().await;
    let answer = kernel
        .mcp(&token, &call("line-show", json!({})))
        .await
        .json();
    let blocks = json!([
        {"type": "text", "text": "Look:"},
        {"type": "image", "data": "cGl4ZWxz", "mimeType": "image/png"},
        {"type": "audio", "data": "d2F2ZXM=", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "note:1", "mimeType": "text/plain", "text": "Hello"}},
    ]);
    assert_eq!(answer["result"]["content"], blocks);
    assert_eq!(answer["result"].get("structuredContent"), None);
    let by_http = kernel.ask(&token, "line.show", json!({})).await.json();
    assert_eq!(by_http["result"]["content"], blocks);
    let list = kernel
        .mcp(&token, &message("tools/list", json!({})))
        .await
        .json();
    let tools = list["result"]["tools"].as_array().unwrap();
    let shows = tools
        .iter()
        .find(|tool| tool["name"] == "line-show")
        .unwrap();
    assert_eq!(shows.get("outputSchema"), None::<&Value>);
}
