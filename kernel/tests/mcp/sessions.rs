//! A session belongs to one token, and ends with it.

use std::sync::Arc;
use std::time::Duration;

use actum::{ActionError, Registry, action};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::support::answer::Answer;
use super::support::client::Client;
use super::support::home::{Authority, Home};
use super::support::kernel::Here;
use super::{SOON, STATUS, Stream, call, connected, message, owner, stranger};

/// Begins a session; its id.
async fn begun(kernel: &Client, token: &str) -> String {
    let begin = message(
        "initialize",
        json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }),
    );
    let answer = kernel.mcp(token, &begin).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let session = answer.headers["mcp-session-id"][0].clone();
    let session = String::from_utf8(session).unwrap();
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let answer = of(kernel, token, &session, &initialized).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    session
}

async fn of(kernel: &Client, token: &str, session: &str, body: &Value) -> Answer {
    let headers = [
        ("mcp-session-id", session),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    kernel.mcp_with(token, body, &headers).await
}

#[tokio::test]
async fn anothers_session_is_none_at_all() {
    let kernel = Here::start(Home::sample()).await;
    let (one, two) = (owner(&kernel).await, stranger(&kernel).await);
    let session = begun(&kernel, &one.token).await;
    let own = begun(&kernel, &two.token).await;
    assert_ne!(session, own);
    for body in [message("tools/list", json!({})), call(STATUS, json!({}))] {
        let foreign = of(&kernel, &two.token, &session, &body).await;
        let never = of(
            &kernel,
            &two.token,
            "1e5f9ca1-6f0d-4c52-8f5e-3b0c6f3b2a11",
            &body,
        )
        .await;
        assert_eq!(foreign.status, 404, "{}", foreign.text());
        assert_eq!(foreign, never);
        assert_eq!(of(&kernel, &one.token, &session, &body).await.status, 200);
    }
    let ended = kernel
        .http
        .delete(format!("{}/mcp", kernel.url))
        .bearer_auth(&two.token)
        .header("mcp-session-id", &session);
    kernel.send(ended).await;
    let list = message("tools/list", json!({}));
    assert_eq!(of(&kernel, &one.token, &session, &list).await.status, 200);
}

#[tokio::test]
async fn of_too_many_sessions_of_a_task_the_oldest_ends_and_no_other_tasks() {
    let kernel = Here::start(Home::sample()).await;
    let (one, two) = (owner(&kernel).await, owner(&kernel).await);
    let of_another = begun(&kernel, &two.token).await;
    let mut sessions = Vec::new();
    for _ in 0..33 {
        sessions.push(begun(&kernel, &one.token).await);
    }
    let list = message("tools/list", json!({}));
    let status = async |token: &str, session: &str| of(&kernel, token, session, &list).await.status;
    assert_eq!(status(&one.token, &sessions[0]).await, 404);
    for session in &sessions[1..] {
        assert_eq!(status(&one.token, session).await, 200);
    }
    assert_eq!(status(&two.token, &of_another).await, 200);
}

#[tokio::test]
async fn what_a_session_is_open_for_ends_when_its_task_is_taken_back() {
    let kernel = Here::start(Home::sample()).await;
    let task = owner(&kernel).await;
    let session = begun(&kernel, &task.token).await;
    let mut stream = kernel
        .http
        .get(format!("{}/mcp", kernel.url))
        .bearer_auth(&task.token)
        .header("accept", "text/event-stream")
        .header("mcp-session-id", &session)
        .header("mcp-protocol-version", "2025-11-25")
        .send()
        .await
        .unwrap();
    assert_eq!(stream.status(), 200);
    let revoked = format!("/v1/owner/tasks/{}/revoke", task.id);
    assert_eq!(kernel.owner_post(&revoked, &json!({})).await.status, 200);
    let list = message("tools/list", json!({}));
    assert_eq!(of(&kernel, &task.token, &session, &list).await.status, 401);
    let ends = async { while let Ok(Some(_)) = stream.chunk().await {} };
    tokio::time::timeout(SOON, ends)
        .await
        .expect("the stream ends");
}

#[tokio::test]
async fn a_stop_ends_open_streams_and_does_not_wait_for_them() {
    let kernel = Here::start(Home::sample()).await;
    let task = owner(&kernel).await;
    let client = connected(&kernel, &task.token, ()).await;
    let done = client
        .call_tool(rmcp::model::CallToolRequestParams::new(STATUS))
        .await;
    assert!(done.is_ok());
    // The kernel's own patience is ten seconds.
    tokio::time::timeout(Duration::from_secs(8), kernel.stopped())
        .await
        .expect("it stops");
    drop(client);
}

struct Listens(Arc<Notify>);

impl ClientHandler for Listens {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.notify_one();
    }
}

#[action(
    id = "mail.file",
    description = "File a mail.",
    class = optional,
    requires("mail.file"),
    roles("clerk"),
    modes("standard")
)]
async fn file() -> Result<u8, ActionError> {
    Ok(1)
}

#[action(id = "mail.count", description = "Count mails.", read_only)]
async fn count() -> Result<u8, ActionError> {
    Ok(1)
}

/// A kernel whose task has one tool by a list and one by a claim that its actor can lose.
async fn with_a_claim() -> (Here, String) {
    let work = Authority {
        name: "work",
        allowed: &["mail.count"],
        ..Authority::default()
    };
    let home = Home::office(&[work], "[mail.file]");
    let registry = Registry::new(actum::actions![file, count], []).unwrap();
    let kernel = Here::start_with(home, |builder| builder.registry(registry)).await;
    let event = json!({
        "event_type": "work", "channel_account": "room", "actor_hint": {"handle": "ada"},
    });
    let token = kernel.begin("desk", &event).await.token;
    (kernel, token)
}

#[tokio::test]
async fn a_client_that_listens_is_told_when_its_tools_are_others() {
    let (kernel, token) = with_a_claim().await;
    let heard = Arc::new(Notify::new());
    let client = connected(&kernel, &token, Listens(Arc::clone(&heard))).await;
    assert_eq!(client.list_all_tools().await.unwrap().len(), 2);
    kernel.home.ada_has("[]");
    let reloaded = kernel
        .owner_post("/v1/owner/manifests/reload", &json!({}))
        .await;
    assert_eq!(reloaded.json()["changed"], true);
    tokio::time::timeout(SOON, heard.notified())
        .await
        .expect("it is told");
    let left = client.list_all_tools().await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].name, "mail-count");
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_client_without_a_session_listens_and_is_told_too_until_its_task_is_over() {
    let (kernel, token) = with_a_claim().await;
    let wanted = json!({"toolsListChanged": true, "resourcesListChanged": true});
    let mut stream = Stream::listen(&kernel, &token, wanted).await;
    // What was not asked for is not acknowledged.
    let acknowledged = stream
        .hear("notifications/subscriptions/acknowledged")
        .await;
    assert!(acknowledged.contains("toolsListChanged"), "{acknowledged}");
    assert!(
        !acknowledged.contains("promptsListChanged"),
        "{acknowledged}"
    );
    kernel.home.ada_has("[]");
    kernel
        .owner_post("/v1/owner/manifests/reload", &json!({}))
        .await;
    let told = stream.hear("notifications/resources/list_changed").await;
    assert!(told.contains("notifications/tools/list_changed"), "{told}");
    let task = kernel.task(&token).await.at("/task_id");
    kernel
        .owner_post(&format!("/v1/owner/tasks/{task}/revoke"), &json!({}))
        .await;
    stream.ends().await;
}
