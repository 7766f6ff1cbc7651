//! Calls that wait, as tasks of the extension, for clients that know it.

use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, Implementation,
};
use serde_json::{Value, json};

use super::support::answer::Answer;
use super::support::client::Client;
use super::support::home::Home;
use super::support::kernel::Here;
use super::{PREVIEW, STATUS, connected, decide, discovered, draft, owner, sessionless};

/// A request of a client that knows tasks.
fn knowing(method: &str, params: Value) -> Value {
    let mut request = sessionless(method, params);
    request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    request
}

async fn asked(kernel: &Client, token: &str, method: &str, id: &str) -> Answer {
    let request = knowing(method, json!({"taskId": id}));
    kernel.mcp(token, &request).await
}

async fn begun(kernel: &Client, token: &str) -> String {
    let params = json!({"name": PREVIEW, "arguments": draft()});
    let begun = kernel.mcp(token, &knowing("tools/call", params)).await;
    assert_eq!(begun.at("/result/resultType"), "task", "{}", begun.text());
    assert_eq!(begun.at("/result/status"), "working");
    begun.at("/result/taskId")
}

#[tokio::test]
async fn a_call_that_waits_is_a_task_and_one_that_does_not_is_none() {
    let kernel = Here::start(Home::sample()).await;
    let task = owner(&kernel).await;
    let id = begun(&kernel, &task.token).await;
    let told = asked(&kernel, &task.token, "tasks/get", &id).await.json();
    let told = &told["result"];
    assert_eq!(told["status"], "working");
    assert_eq!(told["statusMessage"], "It waits for the owner's approval.");
    let ttl = told["ttlMs"].as_u64().unwrap();
    assert!(ttl > 0 && ttl <= 3_600_000, "{ttl}");
    assert!(told["pollIntervalMs"].as_u64().unwrap() > 0);
    // The same call as by every other door.
    let by_http = kernel.state(&task.token, &id).await;
    assert_eq!(by_http.at("/state"), "pending");

    decide(&kernel, &id, "approve").await;
    let told = asked(&kernel, &task.token, "tasks/get", &id).await.json();
    let told = &told["result"];
    assert_eq!(told["status"], "completed");
    assert_eq!(told["result"]["isError"], false);
    assert_eq!(told["result"]["_meta"]["actum/request_id"], id.as_str());
    let by_http = kernel.state(&task.token, &id).await.json();
    assert_eq!(told["result"]["structuredContent"], by_http["result"]);

    let params = json!({"name": STATUS, "arguments": {}});
    let at_once = kernel
        .mcp(&task.token, &knowing("tools/call", params.clone()))
        .await;
    assert_eq!(at_once.at("/result/resultType"), "complete");
    // A client that does not know tasks is told as before, and has none.
    let params = json!({"name": PREVIEW, "arguments": draft()});
    let plain = kernel
        .mcp(&task.token, &sessionless("tools/call", params))
        .await;
    assert_eq!(
        plain.at("/result/structuredContent/decision"),
        "approval_required"
    );
    let get = sessionless("tasks/get", json!({"taskId": id}));
    let refused = kernel.mcp(&task.token, &get).await.json();
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
}

#[tokio::test]
async fn what_was_not_approved_is_told_with_the_reason() {
    let kernel = Here::start(Home::sample()).await;
    let task = owner(&kernel).await;
    let id = begun(&kernel, &task.token).await;
    let shown = kernel.owner_get(&format!("/v1/owner/calls/{id}")).await;
    let no = json!({"binding": shown.at("/call/binding"), "reason": "Not today."});
    kernel
        .owner_post(&format!("/v1/owner/calls/{id}/reject"), &no)
        .await;
    let told = asked(&kernel, &task.token, "tasks/get", &id).await.json();
    let told = &told["result"];
    assert_eq!(told["status"], "completed");
    assert_eq!(told["result"]["isError"], true);
    let text = told["result"]["content"][0]["text"].as_str().unwrap();
    let text: Value = serde_json::from_str(text).unwrap();
    assert_eq!(text["state"], "rejected");
    assert_eq!(text["reason"], "Not today.");
}

#[tokio::test]
async fn a_call_that_another_took_the_place_of_is_followed_there() {
    let kernel = Here::start(Home::sample()).await;
    let task = owner(&kernel).await;
    let id = begun(&kernel, &task.token).await;
    let shown = kernel.owner_get(&format!("/v1/owner/calls/{id}")).await;
    let mut edited = draft();
    edited["body"] = json!("Wednesday at ten.");
    let edit = json!({"binding": shown.at("/call/binding"), "arguments": edited});
    let edit = kernel
        .owner_post(&format!("/v1/owner/calls/{id}/edit"), &edit)
        .await;
    let instead = edit.at("/call");
    let told = asked(&kernel, &task.token, "tasks/get", &id).await;
    assert_eq!(told.at("/result/status"), "working");
    assert_eq!(told.at("/result/taskId"), id);
    decide(&kernel, &instead, "approve").await;
    let told = asked(&kernel, &task.token, "tasks/get", &id).await;
    assert_eq!(told.at("/result/status"), "completed");
    assert_eq!(told.at("/result/result/_meta/actum~1request_id"), instead);
}

#[tokio::test]
async fn what_its_worker_takes_back_never_runs() {
    let kernel = Here::start(Home::sample()).await;
    let task = owner(&kernel).await;
    let id = begun(&kernel, &task.token).await;
    let shown = kernel.owner_get(&format!("/v1/owner/calls/{id}")).await;
    let cancelled = asked(&kernel, &task.token, "tasks/cancel", &id)
        .await
        .json();
    assert_eq!(cancelled["result"]["resultType"], "complete", "{cancelled}");
    let told = asked(&kernel, &task.token, "tasks/get", &id).await;
    assert_eq!(told.at("/result/status"), "cancelled");
    // The click comes too late.
    let seen = json!({"binding": shown.at("/call/binding")});
    let late = kernel
        .owner_post(&format!("/v1/owner/calls/{id}/approve"), &seen)
        .await;
    late.refused_with_more(409, "input_invalid", "not_pending");
    // And one that ran is not undone.
    let id = begun(&kernel, &task.token).await;
    decide(&kernel, &id, "approve").await;
    asked(&kernel, &task.token, "tasks/cancel", &id).await;
    let told = asked(&kernel, &task.token, "tasks/get", &id).await;
    assert_eq!(told.at("/result/status"), "completed");
    let home = kernel.stopped().await;
    let states: Vec<_> = home
        .calls()
        .await
        .into_iter()
        .map(|(_, state)| state)
        .collect();
    assert_eq!(states, ["cancelled", "succeeded"]);
}

#[tokio::test]
async fn a_task_is_its_own_tokens_alone() {
    let kernel = Here::start(Home::sample()).await;
    let (task, other) = (owner(&kernel).await, owner(&kernel).await);
    let id = begun(&kernel, &task.token).await;
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let ask = |id: &str| knowing(method, json!({"taskId": id, "inputResponses": {}}));
        let foreign = kernel.mcp(&other.token, &ask(&id)).await;
        let never = kernel
            .mcp(&other.token, &ask("01ARZ3NDEKTSV4RRFFQ69G5FAV"))
            .await;
        let nonsense = kernel.mcp(&other.token, &ask("nonsense")).await;
        assert_eq!(foreign, never);
        assert_eq!(foreign, nonsense);
        assert_eq!(foreign.json()["error"]["code"], -32602);
        // Parameters that are none of the method's.
        let odd = kernel
            .mcp(&task.token, &knowing(method, json!({"taskId": 1})))
            .await
            .json();
        assert_eq!(odd["error"]["code"], -32602, "{method}: {odd}");
    }
    let told = asked(&kernel, &task.token, "tasks/get", &id).await;
    assert_eq!(told.at("/result/status"), "working");
}

#[derive(Clone)]
struct Knows;

impl ClientHandler for Knows {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_tasks().build();
        ClientConfig::new(capabilities, Implementation::new("knows", "1"))
    }
}

#[tokio::test]
async fn an_official_client_gets_a_task_with_and_without_a_session() {
    let kernel = Here::start(Home::sample()).await;
    let token = owner(&kernel).await.token;
    for client in [
        connected(&kernel, &token, Knows).await,
        discovered(&kernel, &token, Knows).await,
    ] {
        let arguments = draft().as_object().unwrap().clone();
        let call = CallToolRequestParams::new(PREVIEW).with_arguments(arguments);
        let CallToolResponse::Task(begun) = client.call_tool_once(call).await.unwrap() else {
            panic!("it waits");
        };
        let state = kernel.state(&token, &begun.task.task_id).await;
        assert_eq!(state.at("/state"), "pending");
        client.cancel().await.unwrap();
    }
}
