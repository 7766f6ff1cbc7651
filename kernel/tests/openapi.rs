//! The OpenAPI document of `/v1`: it is the code's, it has every route, and real answers are what it says.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use std::collections::BTreeSet;
use std::process::Command;

use actum::Registry;
use serde_json::{Value, json};

use support::answer::Answer;
use support::home::Home;
use support::kernel::Here;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json");

fn document() -> Value {
    serde_json::from_str(&std::fs::read_to_string(GOLDEN).unwrap()).unwrap()
}

#[test]
fn the_document_under_review_is_the_codes() {
    let printed = Command::new(env!("CARGO_BIN_EXE_actum"))
        .arg("openapi")
        .output();
    let printed = String::from_utf8(printed.unwrap().stdout).unwrap();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(GOLDEN, &printed).unwrap();
    }
    let stored = std::fs::read_to_string(GOLDEN).unwrap();
    assert!(
        stored == printed,
        "docs/openapi.json is not what the code says; if that is meant, run `UPDATE_GOLDEN=1 cargo test -p actum-kernel --test openapi`"
    );
}

#[test]
fn every_route_is_in_it_and_nothing_else() {
    // As the router has it, line for line.
    let router = include_str!("../src/router.rs");
    let routes: BTreeSet<(String, String)> = router
        .split(".route(")
        .filter_map(|route| {
            let (path, rest) = route.trim_start().strip_prefix('"')?.split_once('"')?;
            let method = rest
                .trim_start_matches([',', ' ', '\n'])
                .split('(')
                .next()?;
            Some((path.to_owned(), method.to_owned()))
        })
        .filter(|(path, _)| path.starts_with("/v1/"))
        .collect();
    assert!(routes.len() > 20, "{routes:?}");
    let document = document();
    let told = document["paths"].as_object().unwrap().iter();
    let told: BTreeSet<(String, String)> = told
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().keys();
            methods.map(|method| (path.clone(), method.clone()))
        })
        .collect();
    assert_eq!(told, routes);
}

#[test]
fn it_names_no_action() {
    let text = std::fs::read_to_string(GOLDEN).unwrap();
    let registry = Registry::linked().unwrap();
    for (id, _) in registry.actions() {
        let name = actum::ToolName::of(id).to_string();
        assert!(!text.contains(id.as_str()) && !text.contains(&name), "{id}");
    }
}

/// Holds answers against the document.
struct Documented(Value);

impl Documented {
    /// Asserts that a path is answered so.
    #[track_caller]
    fn says(&self, method: &str, path: &str, answer: &Answer, status: u16) -> Value {
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
        let pointer = format!(
            "/paths/{}/{method}/responses/{status}",
            path.replace('/', "~1")
        );
        let found = self.0.pointer(&pointer);
        let found =
            found.unwrap_or_else(|| panic!("{method} {path} is not documented with {status}"));
        let response = match found.get("$ref") {
            Some(name) => self
                .0
                .pointer(name.as_str().unwrap().trim_start_matches('#'))
                .unwrap(),
            None => found,
        };
        assert_eq!(answer.headers["content-type"], [b"application/json"]);
        assert_eq!(answer.headers["cache-control"], [b"no-store"]);
        let schema = &response["content"]["application/json"]["schema"];
        let mut whole = json!({"allOf": [schema]});
        whole["components"] = self.0["components"].clone();
        let validator = jsonschema::draft202012::new(&whole).unwrap();
        let body = answer.json();
        let faults: Vec<_> = validator
            .iter_errors(&body)
            .map(|it| it.to_string())
            .collect();
        assert!(
            faults.is_empty(),
            "{method} {path} {status}: {faults:#?}\n{body}"
        );
        body
    }
}

#[tokio::test]
async fn a_worker_is_answered_as_it_says() {
    let kernel = Here::start(Home::sample()).await;
    let api = Documented(document());
    let event = json!({
        "event_type": "chat.message", "channel_account": "front-page",
        "actor_hint": {"handle": "robin"}, "message": "Hello",
    });
    let begun = kernel.post_event("signed_in_chat", &event).await;
    let token = api.says("post", "/v1/events", &begun, 201)["task_token"].clone();
    let token = token.as_str().unwrap();
    let refused = kernel
        .post_event("signed_in_chat", &json!({"event_type": "other"}))
        .await;
    api.says("post", "/v1/events", &refused, 400);
    let mut nobody = event.clone();
    nobody["event_type"] = json!("no.route");
    let refused = kernel.post_event("signed_in_chat", &nobody).await;
    api.says("post", "/v1/events", &refused, 403);
    let unknown = kernel.post("/v1/events", Some("nobody"), "{}").await;
    api.says("post", "/v1/events", &unknown, 401);

    let task = kernel.task(token).await;
    let task = api.says("get", "/v1/task", &task, 200);
    // Each tool is one by the shape that is told of, and not only some object.
    let tool = api.0.pointer("/components/schemas/Tool").unwrap();
    let tool = jsonschema::draft202012::new(tool).unwrap();
    for one in task["catalog"]["tools"].as_array().unwrap() {
        assert!(tool.is_valid(one), "{one}");
    }
    for provider in ["openai", "anthropic", "gemini", "mcp"] {
        let task = kernel
            .get(&format!("/v1/task?tools={provider}"), Some(token))
            .await;
        api.says("get", "/v1/task", &task, 200);
    }
    let task = kernel.get("/v1/task?tools=nobody", Some(token)).await;
    api.says("get", "/v1/task", &task, 400);
    api.says("get", "/v1/task", &kernel.task("nobody").await, 401);

    let ask = async |body: Value| kernel.call(token, &body).await;
    let done = ask(json!({"action": "openspine.status.read"})).await;
    api.says("post", "/v1/actions", &done, 200);
    let keyed = json!({"action": "openspine.status.read", "idempotency_key": "1"});
    ask(keyed.clone()).await;
    let again = ask(keyed).await;
    let again = api.says("post", "/v1/actions", &again, 200);
    assert_eq!(again["replayed"], true);
    let other = json!({
        "action": "skill.context", "arguments": {"task": "x"}, "idempotency_key": "1",
    });
    api.says("post", "/v1/actions", &ask(other).await, 409);
    let draft = json!({"title": "Answer", "kind": "text", "body": "Tuesday."});
    let waits = ask(json!({"action": "lyra.ui.preview", "arguments": draft})).await;
    let waits = api.says("post", "/v1/actions", &waits, 202);
    api.says(
        "post",
        "/v1/actions",
        &ask(json!({"action": "never.was"})).await,
        404,
    );
    let misfit = ask(json!({"action": "lyra.ui.preview", "arguments": {}})).await;
    let misfit = api.says("post", "/v1/actions", &misfit, 400);
    assert!(misfit["error"]["faults"][0]["at"].is_string(), "{misfit}");
    api.says(
        "post",
        "/v1/actions",
        &ask(json!({"actions": 1})).await,
        400,
    );
    let large = format!("{{\"action\": \"{}\"}}", "a".repeat(300 * 1024));
    let large = kernel.post("/v1/actions", Some(token), large).await;
    api.says("post", "/v1/actions", &large, 413);
    let reply = json!({"action": "telegram.reply:owner_channel", "arguments": {"text": "Hi"}});
    let reply = ask(reply).await.at("/request_id");

    let id = waits["request_id"].as_str().unwrap();
    let state = kernel.state(token, id).await;
    api.says("get", "/v1/actions/{id}", &state, 200);
    api.says(
        "get",
        "/v1/actions/{id}",
        &kernel.state(token, "1").await,
        404,
    );

    let unwanted = json!({"action": "lyra.ui.preview", "arguments": draft});
    let unwanted = ask(unwanted).await.at("/request_id");
    let cancel = async |id: &str| {
        let path = format!("/v1/actions/{id}/cancel");
        kernel.post(&path, Some(token), String::new()).await
    };
    let done = done.at("/request_id");
    for (call, status) in [(&*unwanted, 200), ("1", 404), (&*done, 409)] {
        let cancelled = cancel(call).await;
        api.says("post", "/v1/actions/{id}/cancel", &cancelled, status);
    }

    // Those who decide.
    let calls = kernel.owner_get("/v1/owner/calls").await;
    let calls = api.says("get", "/v1/owner/calls", &calls, 200);
    assert_eq!(calls["calls"].as_array().unwrap().len(), 2);
    let calls = kernel.owner_get("/v1/owner/calls?state=other").await;
    api.says("get", "/v1/owner/calls", &calls, 400);
    let path = format!("/v1/owner/calls/{id}");
    let shown = kernel.owner_get(&path).await;
    let shown = api.says("get", "/v1/owner/calls/{id}", &shown, 200);
    let missing = kernel.owner_get("/v1/owner/calls/1").await;
    api.says("get", "/v1/owner/calls/{id}", &missing, 404);
    let binding = json!({"binding": shown["call"]["binding"]});
    let post =
        async |what: &str, body: &Value| kernel.owner_post(&format!("{path}/{what}"), body).await;
    let settled = post("settle", &json!({"outcome": "failed", "reason": "Seen."})).await;
    api.says("post", "/v1/owner/calls/{id}/settle", &settled, 409);
    let renewed = post("renew", &binding).await;
    let renewed = api.says("post", "/v1/owner/calls/{id}/renew", &renewed, 201);
    api.says(
        "post",
        "/v1/owner/calls/{id}/approve",
        &post("approve", &binding).await,
        409,
    );
    let path = format!("/v1/owner/calls/{}", renewed["call"].as_str().unwrap());
    let shown = kernel.owner_get(&path).await.json();
    let mut edited = json!({"binding": shown["call"]["binding"], "arguments": draft});
    edited["arguments"]["body"] = json!("Wednesday.");
    let edited = kernel.owner_post(&format!("{path}/edit"), &edited).await;
    let edited = api.says("post", "/v1/owner/calls/{id}/edit", &edited, 201);
    let path = format!("/v1/owner/calls/{}", edited["call"].as_str().unwrap());
    let shown = kernel.owner_get(&path).await.json();
    let binding = json!({"binding": shown["call"]["binding"], "reason": "Well said."});
    let approved = kernel
        .owner_post(&format!("{path}/approve"), &binding)
        .await;
    api.says("post", "/v1/owner/calls/{id}/approve", &approved, 200);
    let path = format!("/v1/owner/calls/{reply}");
    let shown = kernel.owner_get(&path).await.json();
    let binding = json!({"binding": shown["call"]["binding"]});
    let rejected = kernel.owner_post(&format!("{path}/reject"), &binding).await;
    api.says("post", "/v1/owner/calls/{id}/reject", &rejected, 200);

    let previews = kernel.owner_get("/v1/owner/previews").await;
    let previews = api.says("get", "/v1/owner/previews", &previews, 200);
    let preview = previews["previews"][0]["id"].as_str().unwrap();
    let preview = kernel
        .owner_get(&format!("/v1/owner/previews/{preview}"))
        .await;
    api.says("get", "/v1/owner/previews/{id}", &preview, 200);
    let missing = kernel.owner_get("/v1/owner/previews/1").await;
    api.says("get", "/v1/owner/previews/{id}", &missing, 404);
}

#[tokio::test]
async fn the_owner_is_answered_as_it_says() {
    let kernel = Here::start(Home::sample()).await;
    let api = Documented(document());
    let none = "00000000000000000000000000";
    let news = format!("/v1/owner/messages?calls_after={none}&previews_after={none}");
    let messages = kernel.owner_get(&news).await;
    api.says("get", "/v1/owner/messages", &messages, 200);
    let stranger = json!({"event_type": "chat.message", "channel_account": "front-page"});
    let token = kernel.begin("public_chat", &stranger).await.token;
    let words = json!({"text": "Please call me back."});
    kernel
        .ask(&token, "terminal.reply:owner_device", words)
        .await;
    let messages = kernel.owner_get("/v1/owner/messages").await;
    let messages = api.says("get", "/v1/owner/messages", &messages, 200);
    assert_eq!(messages["messages"].as_array().unwrap().len(), 1);
    let wrong = kernel.owner_get("/v1/owner/messages?before=1").await;
    api.says("get", "/v1/owner/messages", &wrong, 400);
    api.says(
        "get",
        "/v1/owner/messages",
        &kernel.get("/v1/owner/messages", None).await,
        401,
    );

    let threads = kernel.owner_get("/v1/owner/threads").await;
    let threads = api.says("get", "/v1/owner/threads", &threads, 200);
    let thread = json!({"thread": threads["threads"][0]["id"]});
    let selected = kernel.owner_post("/v1/owner/selections", &thread).await;
    let selected = api.says("post", "/v1/owner/selections", &selected, 201);
    let missing = kernel
        .owner_post("/v1/owner/selections", &json!({"thread": "1"}))
        .await;
    api.says("post", "/v1/owner/selections", &missing, 404);
    let task = selected["task_id"].as_str().unwrap();
    let revoke = async |task: &str| {
        let path = format!("/v1/owner/tasks/{task}/revoke");
        kernel.owner_post(&path, &json!({})).await
    };
    api.says(
        "post",
        "/v1/owner/tasks/{id}/revoke",
        &revoke(task).await,
        200,
    );
    api.says(
        "post",
        "/v1/owner/tasks/{id}/revoke",
        &revoke(task).await,
        404,
    );

    let reload = async || {
        kernel
            .owner_post("/v1/owner/manifests/reload", &json!({}))
            .await
    };
    api.says("post", "/v1/owner/manifests/reload", &reload().await, 200);
    kernel
        .home
        .write("manifests/routes/faulty.yaml", "id: faulty\n");
    api.says("post", "/v1/owner/manifests/reload", &reload().await, 422);
    let artifacts = kernel.owner_get("/v1/owner/artifacts").await;
    api.says("get", "/v1/owner/artifacts", &artifacts, 200);
    let missing = kernel.owner_get("/v1/owner/artifacts/packs/none").await;
    api.says("get", "/v1/owner/artifacts/{kind}/{id}", &missing, 404);
    let signed = kernel
        .owner_post("/v1/owner/ledger/checkpoint", &json!({}))
        .await;
    api.says("post", "/v1/owner/ledger/checkpoint", &signed, 200);
}
