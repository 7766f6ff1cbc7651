//! Calls of an upstream's tools pass the gate as any other, and what becomes of them is known.

use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ProgressNotificationParam,
};
use rmcp::service::{NotificationContext, PeerRequestOptions};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use serde_json::json;

use super::*;

#[tokio::test]
async fn nothing_is_reachable_but_through_the_gate() {
    let tools = [
        tool("say", "Say it."),
        tool("sign-off", "Sign."),
        tool("rob", "Not taken."),
    ];
    let upstream = Upstream::start(&tools).await;
    let (kernel, token) = ready(&upstream, MANIFEST).await;
    // What the manifest does not name, by whatever name.
    for id in [
        "other.rob",
        "other-rob",
        "rob",
        "other/rob",
        "other.sign_off",
        "sign-off",
    ] {
        let asked = kernel.ask(&token, id, json!({"text": "x"})).await;
        asked.refused(404, "operation_absent", "unknown_operation");
    }
    // Arguments that do not fit.
    for arguments in [
        json!({}),
        json!({"text": 1}),
        json!({"text": "x", "more": 1}),
    ] {
        let asked = kernel.ask(&token, "other.say", arguments).await;
        assert_eq!(asked.at("/error/code"), "input_invalid");
    }
    // A call that waits reaches nobody until it was approved, and then once.
    let waits = kernel.ask(&token, "other.sign", json!({"text": "x"})).await;
    assert_eq!(waits.status, 202, "{waits:?}");
    assert_eq!(upstream.calls(), []);
    let id = waits.at("/request_id");
    let path = format!("/v1/owner/calls/{id}");
    let seen = kernel.owner_get(&path).await;
    let binding = json!({"binding": seen.at("/call/binding")});
    let approved = kernel
        .owner_post(&format!("{path}/approve"), &binding)
        .await;
    assert_eq!(approved.status, 200, "{approved:?}");
    upstream.heard().await;
    let again = kernel
        .owner_post(&format!("{path}/approve"), &binding)
        .await;
    assert_ne!(again.status, 200);
    let signed = ("sign-off".to_owned(), json!({"text": "x"}));
    assert_eq!(upstream.calls(), [signed]);
    // A task that is not granted it has no such tool.
    let revoked = kernel
        .owner_post(
            &format!("/v1/owner/tasks/{}/revoke", task_id(&kernel, &token).await),
            &json!({}),
        )
        .await;
    assert_eq!(revoked.status, 200, "{revoked:?}");
    assert_eq!(say(&kernel, &token, "x").await.status, 401);
    assert_eq!(upstream.calls(), []);
}

async fn task_id(kernel: &Client, token: &str) -> String {
    kernel.task(token).await.at("/task_id")
}

#[tokio::test]
async fn what_was_approved_does_not_run_once_its_tool_is_another() {
    let say = tool("say", "Say it.");
    let upstream = Upstream::start(&[say.clone(), tool("sign-off", "Sign.")]).await;
    let (kernel, token) = ready(&upstream, MANIFEST).await;
    let waits = kernel.ask(&token, "other.sign", json!({"text": "x"})).await;
    let id = waits.at("/request_id");
    let path = format!("/v1/owner/calls/{id}");
    let seen = kernel.owner_get(&path).await;
    upstream.offer(&[say, tool("sign-off", "Sign something else.")]);
    upstream.tell().await;
    until_shown(&kernel, &token, "other.sign", false).await;
    let binding = json!({"binding": seen.at("/call/binding")});
    let approved = kernel
        .owner_post(&format!("{path}/approve"), &binding)
        .await;
    assert_ne!(
        approved.json()["call"]["state"],
        "succeeded",
        "{approved:?}"
    );
    let state = kernel.state(&token, &id).await;
    assert_ne!(state.at("/state"), "succeeded", "{state:?}");
    assert_eq!(upstream.calls(), []);
    let ledger = kernel.home.ledger().await;
    assert!(
        ledger.iter().all(|(kind, _)| kind != "call_started"),
        "{ledger:?}"
    );
}

#[tokio::test]
async fn arguments_are_held_to_what_the_manifest_says_whatever_the_grant_says() {
    let upstream = Upstream::start(&[tool("say", "Say it.")]).await;
    let manifest = "tools:
  - tool: say
    approval_required: false
    bound_arguments: [{ at: /text, within: /srv/share }]
  - { tool: sign-off, id: other.sign }
";
    let (kernel, token) = ready(&upstream, manifest).await;
    let tool = shown(&kernel, &token, "other.say").await.unwrap();
    let text = &tool["parameters"]["properties"]["text"];
    assert_eq!(text["pattern"], "^/srv/share(/|$)");
    for inside in ["/srv/share", "/srv/share/a/b.txt"] {
        assert_eq!(say(&kernel, &token, inside).await.status, 200, "{inside}");
    }
    assert_eq!(upstream.calls().len(), 2);
    for outside in [
        "/srv",
        "/srv/shared",
        "/srv/share/../keys",
        "/srv/share/%2e%2e/keys",
        "/srv/share//etc",
        "srv/share",
        "/etc/passwd",
    ] {
        let refused = say(&kernel, &token, outside).await;
        refused.refused_with_more(403, "policy_denied", "caveat_widening");
    }
    assert_eq!(upstream.calls(), []);
}

#[tokio::test]
async fn a_result_is_what_the_upstream_said_it_would_be_or_none() {
    let mut structured = tool("say", "Count.");
    structured["outputSchema"] = json!({
        "type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"],
    });
    let upstream = Upstream::start(&[structured]).await;
    let (kernel, token) = ready(
        &upstream,
        &MANIFEST.replace("read_only: true", "read_only: false"),
    )
    .await;
    let counted = say(&kernel, &token, "structure").await;
    assert_eq!(counted.json()["result"], json!({"count": 3}));
    // It may have done something all the same.
    for misfit in ["misfit", "without"] {
        let told = say(&kernel, &token, misfit).await;
        told.refused_with_more(422, "operation_unsupported", "outcome_unknown");
    }
}

#[tokio::test]
async fn how_a_call_failed_is_for_the_operator_and_that_it_did_for_the_worker() {
    let upstream = Upstream::start(&[tool("say", "Say it.")]).await;
    let loose = MANIFEST.replace("read_only: true", "read_only: false");
    let (kernel, token) = ready(&upstream, &loose).await;
    for (text, reason) in [
        ("fail", "operation_failed"),
        ("refuse", "operation_failed"),
        ("break", "outcome_unknown"),
    ] {
        let told = say(&kernel, &token, text).await;
        assert_eq!(told.at("/error/code"), "operation_unsupported", "{text}");
        assert_eq!(told.at("/error/reason"), reason, "{text}");
        assert!(!told.text().contains("4711") && !told.text().contains("broke"));
    }
    // It goes away in the middle of one.
    let asked = say(&kernel, &token, "hang");
    let (told, ()) = tokio::join!(asked, async {
        while upstream.calls().is_empty_of("hang") {
            upstream.heard().await;
        }
        upstream.stop();
    });
    assert_eq!(told.at("/error/code"), "operation_unsupported");
    assert_eq!(told.at("/error/reason"), "outcome_unknown");
    // And is not there for the next.
    let told = say(&kernel, &token, "hello").await;
    assert_eq!(told.at("/error/reason"), "unavailable");
}

trait Without {
    fn is_empty_of(&self, text: &str) -> bool;
}

impl Without for Vec<(String, Value)> {
    fn is_empty_of(&self, text: &str) -> bool {
        self.iter().all(|(_, arguments)| arguments["text"] != text)
    }
}

/// A client that notes what it is told.
#[derive(Clone, Default)]
struct Listening(Arc<Mutex<Vec<Told>>>);

/// How far it was, and what was said of it.
type Told = (f64, Option<String>);

impl ClientHandler for Listening {
    async fn on_progress(
        &self,
        told: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.lock().unwrap().push((told.progress, told.message));
    }
}

async fn client<H: ClientHandler>(
    kernel: &Client,
    token: &str,
    handler: H,
) -> rmcp::service::RunningService<RoleClient, H> {
    let config = StreamableHttpClientTransportConfig::with_uri(format!("{}/mcp", kernel.url))
        .auth_header(token);
    let transport = StreamableHttpClientTransport::with_client(kernel.http.clone(), config);
    handler.serve(transport).await.unwrap()
}

fn asked(text: &str) -> CallToolRequestParams {
    let arguments = json!({"text": text}).as_object().unwrap().clone();
    CallToolRequestParams::new("other-say").with_arguments(arguments)
}

#[tokio::test]
async fn progress_comes_through_and_so_does_that_nobody_waits_any_more() {
    let upstream = Upstream::start(&[tool("say", "Say it.")]).await;
    let (kernel, token) = ready(&upstream, MANIFEST).await;
    let listening = Listening::default();
    let client = client(&kernel, &token, listening.clone()).await;
    let asking = client.call_tool(asked("progress"));
    let listened = async {
        // It answers once its word has come through.
        while listening.0.lock().unwrap().len() < 2 {
            tokio::task::yield_now().await;
        }
        upstream.shared.go.notify_one();
    };
    let listened = tokio::time::timeout(PATIENCE, listened);
    let (done, listened) = tokio::join!(asking, listened);
    listened.expect("both notices come through");
    let done = done.unwrap();
    assert_eq!(done.is_error, Some(false), "{done:?}");
    let told = listening.0.lock().unwrap().clone();
    let half = Some("halfway".to_owned());
    assert_eq!(told, [(1.0, half.clone()), (2.0, half)]);

    let request = ClientRequest::CallToolRequest(CallToolRequest::new(asked("hang")));
    let sent = client.send_request_with_option(request, PeerRequestOptions::no_options());
    let sent = sent.await.unwrap();
    while upstream.calls().is_empty_of("hang") {
        upstream.heard().await;
    }
    sent.cancel(None).await.unwrap();
    upstream.was_told_off().await;
    // The connection is as good as before.
    let done = client.call_tool(asked("hello")).await.unwrap();
    assert_eq!(done.is_error, Some(false), "{done:?}");
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_ended_on_both_sides() {
    let upstream = Upstream::start(&[tool("say", "Say it.")]).await;
    let home = home(&upstream, MANIFEST);
    accept(&home).await;
    home.configure("limits: { handler_seconds: 1, request_seconds: 2 }");
    let kernel = Here::start(home).await;
    let token = begin(&kernel).await;
    let told = say(&kernel, &token, "hang").await;
    assert_eq!(told.at("/error/code"), "operation_unsupported");
    upstream.was_told_off().await;
}

#[tokio::test]
async fn an_upstream_gets_no_model_no_person_and_no_folder() {
    let upstream = Upstream::start(&[tool("say", "Say it.")]).await;
    let (kernel, token) = ready(&upstream, MANIFEST).await;
    assert_eq!(upstream.lent(), Default::default());
    let told = say(&kernel, &token, "ask").await;
    let nothing = json!([{"type": "text", "text": "nothing"}]);
    assert_eq!(told.json()["result"]["content"], nothing, "{told:?}");
}
