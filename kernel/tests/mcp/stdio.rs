//! `actum mcp`: the same door on standard input and output, by rmcp's client.

use std::process::Stdio;

use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::support::home::Home;
use super::support::kernel::Program;
use super::{STATUS, owner, sessionless};

fn bridge(url: &str, token: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_actum"));
    command
        .args(["mcp", "--url", url])
        .env("ACTUM_TOKEN", token)
        .kill_on_drop(true);
    command
}

#[tokio::test]
async fn a_client_that_starts_its_server_has_the_same_tools_and_calls() {
    let kernel = Program::start(Home::sample());
    let task = owner(&kernel).await;
    let transport = TokioChildProcess::new(bridge(&kernel.url, &task.token)).unwrap();
    let client = ().serve(transport).await.unwrap();
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, kernel.tools(&task.token).await);
    let done = client
        .call_tool(CallToolRequestParams::new(STATUS))
        .await
        .unwrap();
    assert_eq!(done.structured_content.unwrap()["store"], "sqlite");
    let absent = client
        .call_tool(CallToolRequestParams::new("does-not-exist"))
        .await
        .unwrap_err();
    assert!(
        absent.to_string().contains("Unknown tool: does-not-exist"),
        "{absent}"
    );
    client.cancel().await.unwrap();
}

/// What the bridge writes to these lines, and whether it ended well.
async fn answers(mut command: Command, lines: &[Value]) -> (bool, Vec<Value>, String) {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    for line in lines {
        // One that refuses its token may be gone by now.
        let _ = input.write_all(format!("{line}\n").as_bytes()).await;
    }
    drop(input);
    let ended = child.wait_with_output().await.unwrap();
    let out = String::from_utf8(ended.stdout).unwrap();
    let out = out.lines().map(|line| serde_json::from_str(line).unwrap());
    let err = String::from_utf8(ended.stderr).unwrap();
    (ended.status.success(), out.collect(), err)
}

#[tokio::test]
async fn the_revision_without_sessions_is_carried_as_it_is_and_each_line_is_answered() {
    let kernel = Program::start(Home::sample());
    let task = owner(&kernel).await;
    let mut list = sessionless("tools/list", json!({}));
    list["id"] = json!("a");
    let mut ask = sessionless("tools/call", json!({"name": STATUS}));
    ask["id"] = json!("b");
    let discover = sessionless("server/discover", json!({}));
    let (is_well, mut out, err) =
        answers(bridge(&kernel.url, &task.token), &[list, ask, discover]).await;
    assert!(is_well, "{err}");
    out.sort_by_key(|answer| answer["id"].to_string());
    assert_eq!(out.len(), 3, "{out:?}");
    assert_eq!(out[0]["result"]["cacheScope"], "private");
    assert_eq!(out[1]["result"]["structuredContent"]["store"], "sqlite");
    let versions = out[2]["result"]["supportedVersions"].clone();
    assert_eq!(versions, json!(["2025-06-18", "2025-11-25", "2026-07-28"]));
}

#[tokio::test]
async fn a_token_that_is_missing_or_over_is_told_and_ends_it() {
    let kernel = Program::start(Home::sample());
    let list = sessionless("tools/list", json!({}));
    let (is_well, out, err) =
        answers(bridge(&kernel.url, "nonsense"), std::slice::from_ref(&list)).await;
    assert!(!is_well);
    assert_eq!(out[0]["id"], 7);
    assert_eq!(out[0]["error"]["code"], -32603);
    assert!(err.contains("ACTUM_TOKEN"), "{err}");
    let mut without = bridge(&kernel.url, "");
    without.env_remove("ACTUM_TOKEN");
    let (is_well, _, err) = answers(without, &[]).await;
    assert!(!is_well && err.contains("set ACTUM_TOKEN"), "{err}");
    // A kernel that is not there.
    let (is_well, out, _) = answers(bridge("http://127.0.0.1:9", "any"), &[list]).await;
    assert!(is_well);
    assert_eq!(out[0]["error"]["code"], -32603);
}
