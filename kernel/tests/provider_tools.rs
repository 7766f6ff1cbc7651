//! `GET /v1/task?tools=PROVIDER`: the same view, in the shape that a provider's SDK takes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use std::collections::BTreeMap;

use actum::provider::{Provider, check, check_list, render};
use actum::{ActionError, Registry, action};
use serde_json::{Value, json};

use support::client::Task;
use support::home::{Authority, Home};
use support::kernel::Here;

const PLAIN: &str = "openspine.status.read";
const MARKED: &str = "terminal.reply:owner_device";
const UNTELLABLE: &str = "test.any_names";
const UNGRANTED: &str = "email.read_thread:selected_no_attachments";

/// A payload without a single named argument, which Gemini has no word for.
#[action(id = "test.any_names", description = "Take whatever names there are.")]
async fn any_names(_: BTreeMap<String, u8>) -> Result<(), ActionError> {
    Ok(())
}

async fn kernel() -> (Here, Task) {
    let authority = Authority {
        name: "asked",
        allowed: &[PLAIN, UNTELLABLE],
        approval: &[MARKED],
        channels: &["terminal.owner.reply"],
        ..Authority::default()
    };
    let kernel = Here::start(Home::desk("chat", &[authority], "")).await;
    let task = kernel
        .begin(
            "desk",
            &json!({"event_type": "asked", "channel_account": "desk"}),
        )
        .await;
    (kernel, task)
}

/// The name and the description of a tool, wherever the shape has them.
fn told(tool: &Value) -> (String, String) {
    let tool = tool.get("function").unwrap_or(tool);
    let text = |key: &str| tool[key].as_str().unwrap().to_owned();
    (text("name"), text("description"))
}

#[tokio::test]
async fn each_provider_gets_the_granted_tools_within_its_rules_and_no_other() {
    let (kernel, task) = kernel().await;
    let plain = kernel.task(&task.token).await.json();
    let granted = kernel.tools(&task.token).await;
    assert_eq!(granted.len(), 3, "{granted:?}");
    for provider in Provider::ALL {
        let path = format!("/v1/task?tools={provider}");
        let answer = kernel.get(&path, Some(&task.token)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(
            !answer.text().contains("read_thread"),
            "{UNGRANTED} for {provider}"
        );
        let body = answer.json();
        let tools = body["catalog"]["tools"].as_array().unwrap().clone();
        for tool in &tools {
            assert_eq!(check(provider, tool), [], "{provider}: {tool}");
        }
        assert_eq!(check_list(provider, &tools), [], "{provider}");

        let left_out: Vec<_> = body["catalog"]["left_out"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect();
        let names: Vec<_> = tools.iter().map(|tool| told(tool).0).collect();
        let (shown, untellable): (Vec<_>, Vec<_>) = granted
            .iter()
            .cloned()
            .partition(|name| !left_out.contains(name));
        assert_eq!(names, shown, "{provider}: order and names are the view's");
        let expected: &[&str] = match provider {
            Provider::Gemini => &["test-any_names"],
            _ => &[],
        };
        assert_eq!(untellable, expected, "{provider}");
        for (name, description) in tools.iter().map(told) {
            let is_marked = description.ends_with(" (requires owner approval)");
            assert_eq!(
                is_marked,
                name == "terminal-reply--owner_device",
                "{provider}: {name}"
            );
        }

        // All else is as without the query.
        let without_tools = |mut body: Value| {
            let catalog = body["catalog"].as_object_mut().unwrap();
            catalog.remove("tools");
            catalog.remove("left_out");
            body
        };
        assert_eq!(
            without_tools(body),
            without_tools(plain.clone()),
            "{provider}"
        );
    }
}

#[tokio::test]
async fn what_cannot_be_told_is_said_with_its_reason() {
    let (kernel, task) = kernel().await;
    let answer = kernel
        .get("/v1/task?tools=gemini", Some(&task.token))
        .await
        .json();
    let left_out = &answer["catalog"]["left_out"];
    assert_eq!(left_out.as_array().unwrap().len(), 1);
    let problem = left_out[0]["problem"].as_str().unwrap();
    assert!(
        problem.contains("put a map into a field of a struct"),
        "{problem}"
    );
    assert!(problem.contains("gemini.parameters"), "{problem}");
}

#[tokio::test]
async fn another_query_is_refused_in_words() {
    let (kernel, task) = kernel().await;
    for (query, words) in [
        (
            "tools=elsewhere",
            "openai, openai-responses, anthropic, gemini, mcp",
        ),
        ("tools=", "openai, openai-responses, anthropic, gemini, mcp"),
        ("tools=mcp&tools=gemini", "`tools=PROVIDER`, once"),
        ("tool=mcp", "`tools=PROVIDER`, once"),
        ("tools=mcp&verbose=1", "`tools=PROVIDER`, once"),
    ] {
        let answer = kernel
            .get(&format!("/v1/task?{query}"), Some(&task.token))
            .await;
        assert_eq!(answer.status, 400, "{query}: {answer:?}");
        assert!(answer.text().contains(words), "{query}: {answer:?}");
        // Nobody learns even that without a token.
        let answer = kernel.get(&format!("/v1/task?{query}"), None).await;
        assert_eq!(answer.status, 401, "{query}: {answer:?}");
    }
}

#[test]
fn the_command_line_prints_a_providers_tools() {
    let printed = |name: &str| {
        std::process::Command::new(env!("CARGO_BIN_EXE_actum"))
            .args(["catalog", "--provider", name])
            .output()
            .unwrap()
    };
    // This test's own action is not in the shipped binary.
    let registry = Registry::linked().unwrap();
    let catalog = registry.catalog();
    let shipped = registry
        .actions()
        .map(|(id, _)| id.as_str())
        .filter(|id| *id != UNTELLABLE);
    let descriptors: Vec<_> = shipped
        .map(|id| catalog.tool_descriptor_for(id).unwrap())
        .collect();
    for provider in Provider::ALL {
        let output = printed(provider.as_str());
        assert!(output.status.success(), "{output:?}");
        let found: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        let expected: Vec<_> = descriptors
            .iter()
            .map(|tool| render(provider, tool, tool.approval_required).unwrap())
            .collect();
        assert_eq!(found, expected, "{provider}");
    }
    let output = printed("elsewhere");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && said.contains("openai-responses"),
        "{said}"
    );
}
