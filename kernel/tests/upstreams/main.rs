//! Third parties' MCP servers behind the kernel.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

#[path = "../support/mod.rs"]
mod support;

mod accepted;
mod calls;
mod faults;
mod program;
mod server;

use actum::ActionId;
use actum::ToolName;
use serde_json::{Value, json};
use tokio::process::Command;

use server::{PATIENCE, SOON, TOKEN, Upstream, tool};
use support::answer::Answer;
use support::client::Client;
use support::home::{Authority, Home};
use support::kernel::Here;

const LOCK: &str = "actum.lock.json";

/// What the operator says of the server's tools, if a test says nothing else.
const MANIFEST: &str = "tools:
  - { tool: say, approval_required: false, read_only: true }
  - { tool: sign-off, id: other.sign }
";

/// A home with the upstream `other`, whose tools and further ones its tasks are granted.
fn home(upstream: &Upstream, manifest: &str) -> Home {
    let authority = Authority {
        name: "work",
        allowed: &["other.say", "openspine.status.read"],
        approval: &["other.sign"],
        ..Authority::default()
    };
    let home = Home::desk("chat", &[authority], "");
    home.configure(&format!("lock: {LOCK}\n"));
    reach(&home, &upstream.url);
    home.write("upstreams/other.yaml", manifest);
    home.write("token", &format!("{TOKEN}\n"));
    home
}

/// Names the upstream in the configuration.
fn reach(home: &Home, url: &str) {
    home.configure(&format!(
        "upstreams: [{{ id: other, manifest: upstreams/other.yaml, url: \"{url}\", token_file: token }}]"
    ));
}

/// Runs a command of the program; its code, and what it said.
async fn actum(home: &Home, arguments: &[&str]) -> (i32, String) {
    let ran = Command::new(env!("CARGO_BIN_EXE_actum"))
        .args(arguments)
        .current_dir(home.path())
        .env("NO_PROXY", "127.0.0.1")
        .output();
    let ran = tokio::time::timeout(PATIENCE, ran).await.unwrap().unwrap();
    let said = [ran.stdout, ran.stderr].concat();
    (ran.status.code().unwrap(), String::from_utf8(said).unwrap())
}

/// Accepts what is offered now.
async fn accept(home: &Home) -> String {
    let is_first = !home.path().join(LOCK).exists();
    let mut arguments = vec!["lock", "--config", "actum.yaml"];
    if !is_first {
        arguments.extend(["--accept", "--by", "Robin", "--reason", "I read it."]);
    }
    let (code, said) = actum(home, &arguments).await;
    assert_eq!(code, 0, "{said}");
    said
}

async fn begin(kernel: &Client) -> String {
    let event = json!({"event_type": "work", "channel_account": "desk"});
    kernel.begin("desk", &event).await.token
}

async fn say(kernel: &Client, token: &str, text: &str) -> Answer {
    kernel.ask(token, "other.say", json!({"text": text})).await
}

/// A kernel whose upstream offers what was accepted, and a task of it.
async fn ready(upstream: &Upstream, manifest: &str) -> (Here, String) {
    let home = home(upstream, manifest);
    accept(&home).await;
    let kernel = Here::start(home).await;
    let token = begin(&kernel).await;
    (kernel, token)
}

/// Asks until the task's tools have one of an id, or have it no more.
async fn until_shown(kernel: &Client, token: &str, id: &str, is_shown: bool) {
    let name = ToolName::of(&ActionId::parse(id).unwrap()).to_string();
    let waiting = async {
        while kernel.tools(token).await.contains(&name) != is_shown {
            tokio::task::yield_now().await;
        }
    };
    // Before the kernel looks of itself: what it was told, it has heard.
    let waited = tokio::time::timeout(SOON, waiting).await;
    waited.unwrap_or_else(|_| panic!("{id} should be shown: {is_shown}"));
}

/// The descriptor that a task is shown.
async fn shown(kernel: &Client, token: &str, id: &str) -> Option<Value> {
    let name = ToolName::of(&ActionId::parse(id).unwrap()).to_string();
    let task = kernel.task(token).await.json();
    let tools = task["catalog"]["tools"].as_array().unwrap().clone();
    tools.into_iter().find(|tool| tool["name"] == name)
}
