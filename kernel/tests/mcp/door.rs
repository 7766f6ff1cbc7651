//! Who may knock, and what is no message.

use serde_json::json;

use super::support::answer::Answer;
use super::support::client::Client;
use super::support::home::Home;
use super::support::kernel::Here;
use super::{STATUS, call, message, owner, sessionless};

async fn with(kernel: &Client, token: &str, headers: &[(&str, &str)]) -> Answer {
    let list = message("tools/list", json!({}));
    kernel.mcp_with(token, &list, headers).await
}

#[tokio::test]
async fn without_a_tasks_token_there_is_one_answer_for_every_method() {
    let kernel = Here::start(Home::sample()).await;
    let task = owner(&kernel).await;
    let list = message("tools/list", json!({}));
    let unknown = kernel.mcp("nonsense", &list).await;
    unknown.refused_with_more(401, "unauthenticated", "token_invalid");
    for key in [
        kernel.key("owner"),
        kernel.key("metrics"),
        task.token.to_lowercase(),
    ] {
        assert_eq!(kernel.mcp(&key, &list).await, unknown);
    }
    for method in ["GET", "DELETE", "PUT"] {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let request = kernel.http.request(method, format!("{}/mcp", kernel.url));
        assert_eq!(kernel.send(request).await, unknown);
    }
    kernel
        .owner_post(&format!("/v1/owner/tasks/{}/revoke", task.id), &json!({}))
        .await;
    assert_eq!(kernel.mcp(&task.token, &list).await, unknown);
}

#[tokio::test]
async fn a_page_of_elsewhere_and_a_name_that_was_made_to_lead_here_are_turned_away() {
    let home = Home::sample();
    home.configure("mcp: { hosts: [kernel.example.org], origins: ['https://chat.example.org'] }");
    let kernel = Here::start(home).await;
    let token = owner(&kernel).await.token;
    for (header, value) in [
        ("host", "localhost:9999"),
        ("host", "127.0.0.1:7373"),
        ("host", "10.1.2.3"),
        ("host", "[::1]:80"),
        ("host", "kernel.example.org"),
        ("host", "Kernel.Example.ORG:443"),
        ("origin", "http://localhost:5173"),
        ("origin", "http://127.0.0.1"),
        ("origin", "http://[::1]:3000"),
        ("origin", "https://chat.example.org"),
    ] {
        let answer = with(&kernel, &token, &[(header, value)]).await;
        assert_eq!(answer.status, 200, "{header}: {value}: {}", answer.text());
    }
    for (header, value) in [
        ("host", "evil.example"),
        ("host", "localhost.evil.example"),
        ("host", "kernel.example.org.evil.example"),
        ("host", "127.0.0.1.evil.example"),
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("origin", "http://localhost.evil.example"),
        ("origin", "http://10.1.2.3"),
        ("origin", "http://chat.example.org"),
        ("origin", "https://chat.example.org:8443"),
        ("origin", "https://chat.example.org/"),
        ("origin", "file://"),
    ] {
        let answer = with(&kernel, &token, &[(header, value)]).await;
        let reason = format!("{header}_unknown");
        answer.refused_with_more(403, "policy_denied", &reason);
    }
}

#[tokio::test]
async fn what_is_no_message_is_refused_before_anything_is_decided() {
    let kernel = Here::start(Home::sample()).await;
    let token = owner(&kernel).await.token;
    let before = kernel.home.ledger().await.len();
    let post = async |body: &str| {
        let request = kernel.http.post(format!("{}/mcp", kernel.url));
        let request = request
            .bearer_auth(&token)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        kernel.send(request.body(body.to_owned())).await
    };
    let named =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{STATUS}""#);
    for (body, code) in [
        ("{".to_owned(), -32700),
        (String::new(), -32700),
        (format!("{named},\"name\":\"x\"}}}}"), -32700),
        ("[]".to_owned(), -32600),
        (format!("[{named}}}}}]"), -32600),
        ("1".to_owned(), -32600),
        (format!("{named},\"arguments\":[]}}}}"), -32602),
        (format!("{named},\"arguments\":\"x\"}}}}"), -32602),
        (named.replace(&format!("\"{STATUS}\""), "1") + "}}", -32602),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#.to_owned(),
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#.to_owned(),
            -32601,
        ),
    ] {
        let answer = post(&body).await;
        assert_eq!(
            answer.json()["error"]["code"],
            code,
            "{body}: {}",
            answer.text()
        );
    }
    // What the revision without sessions has no more is no method of it, and what cannot be read is not its parameters.
    for (method, code) in [
        ("initialize", -32601),
        ("logging/setLevel", -32601),
        ("tools/call", -32602),
    ] {
        let answer = kernel
            .mcp(&token, &sessionless(method, json!({"name": 1})))
            .await;
        assert_eq!(
            answer.json()["error"]["code"],
            code,
            "{method}: {}",
            answer.text()
        );
    }
    let large = call(STATUS, json!({"a": "x".repeat(300_000)})).to_string();
    post(&large)
        .await
        .refused_with_more(413, "input_invalid", "request_too_large");
    assert_eq!(kernel.home.ledger().await.len(), before);
}

#[tokio::test]
async fn an_issuer_of_the_configuration_is_told_to_those_without_a_token() {
    let kernel = Here::start(Home::sample()).await;
    let path = "/.well-known/oauth-protected-resource";
    kernel
        .get(path, None)
        .await
        .refused_with_more(404, "input_invalid", "unknown_path");
    kernel.stopped().await;

    let home = Home::sample();
    home.configure(
        "mcp: { oauth: { resource: 'https://kernel.example.org/mcp', issuers: ['https://login.example.org'] } }",
    );
    let kernel = Here::start(home).await;
    let document = kernel.get(path, None).await;
    assert_eq!(document.status, 200);
    assert_eq!(
        document.json()["resource"],
        "https://kernel.example.org/mcp"
    );
    assert_eq!(
        document.json()["authorization_servers"],
        json!(["https://login.example.org"])
    );
    let with_path = kernel.get(&format!("{path}/mcp"), None).await;
    assert_eq!(with_path, document);
    let refused = kernel
        .mcp("nonsense", &message("tools/list", json!({})))
        .await;
    assert_eq!(refused.status, 401);
    let challenge = String::from_utf8(refused.headers["www-authenticate"][0].clone()).unwrap();
    assert_eq!(
        challenge,
        "Bearer resource_metadata=\"https://kernel.example.org/.well-known/oauth-protected-resource/mcp\""
    );
}

#[tokio::test]
async fn what_the_door_asks_for_is_checked_before_anything_starts() {
    let home = Home::sample();
    home.configure(
        "mcp:
  list_seconds: 100000
  hosts: ['https://kernel.example.org']
  origins: [chat.example.org, 'https://chat.example.org/']
  oauth: { resource: kernel, issuers: [login] }",
    );
    let faults = actum_kernel::config::Config::load(&home.config_file()).unwrap_err();
    let told = faults.to_string();
    for field in [
        "mcp.list_seconds",
        "mcp.hosts[0]",
        "mcp.origins[0]",
        "mcp.origins[1]",
        "mcp.oauth.resource",
        "mcp.oauth.issuers[0]",
    ] {
        assert!(told.contains(field), "{field}: {told}");
    }
}
