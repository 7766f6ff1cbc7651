//! Manifests that are changed while the kernel runs: a set that is in order replaces the other at the next event, and
//! one that is not changes nothing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use serde_json::json;

use support::answer::Answer;
use support::client::{Client, Task};
use support::home::{Authority, Home};
use support::kernel::{Here, Program};

const STATUS: &str = "openspine.status.read";
const REPLY: &str = "terminal.reply:owner_device";

fn home() -> Home {
    let ask = Authority {
        name: "ask",
        allowed: &[STATUS],
        ..Authority::default()
    };
    Home::desk("chat", &[ask], "")
}

async fn task(kernel: &Client) -> Task {
    let event = json!({"event_type": "ask", "channel_account": "desk"});
    kernel.begin("desk", &event).await
}

async fn reload(kernel: &Client) -> Answer {
    let path = "/v1/owner/manifests/reload";
    kernel.owner_post(path, &json!({})).await
}

/// Changes what stands in a file of the home.
fn edit(home: &Home, path: &str, from: &str, to: &str) {
    let text = std::fs::read_to_string(home.path().join(path)).unwrap();
    assert!(text.contains(from), "{path} has no {from:?}:\n{text}");
    home.write(path, &text.replace(from, to));
}

/// Lets the tasks of the one route reply to the owner, too.
fn allow_replies(home: &Home) {
    let reply = format!("candidate_allowed_actions: [{REPLY:?}, ");
    edit(
        home,
        "manifests/packs/ask.yaml",
        "candidate_allowed_actions: [",
        &reply,
    );
    edit(
        home,
        "manifests/agents/ask.yaml",
        "  allowed: []",
        "  allowed: [terminal.owner.reply]",
    );
}

#[tokio::test]
async fn an_edited_manifest_is_in_force_at_the_next_event_and_grants_stay_as_they_are() {
    let kernel = Here::start(home()).await;
    let before = task(&kernel).await;
    allow_replies(&kernel.home);
    assert_eq!(
        kernel.tools(&task(&kernel).await.token).await.len(),
        1,
        "nobody reloaded"
    );

    let answer = reload(&kernel).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["changed"], true);
    let after = task(&kernel).await;
    assert_eq!(
        kernel.tools(&after.token).await,
        ["openspine-status-read", "terminal-reply--owner_device"]
    );
    assert_eq!(kernel.tools(&before.token).await, ["openspine-status-read"]);

    // Where nothing has changed, nothing is recorded.
    assert_eq!(reload(&kernel).await.json()["changed"], false);
    let ledger = kernel.home.ledger().await;
    let loaded: Vec<_> = ledger
        .iter()
        .filter(|(kind, _)| kind == "manifests_loaded")
        .collect();
    let [(_, body)] = loaded[..] else {
        panic!("{loaded:?}");
    };
    let answered = answer.json();
    assert_eq!(
        (&body["from"], &body["to"]),
        (&answered["from"], &answered["revision"])
    );
    let issued = ledger.iter().filter(|(kind, _)| kind == "grant_issued");
    let policies: Vec<_> = issued.map(|(_, body)| body["policy"].clone()).collect();
    assert_eq!(
        policies,
        [
            body["from"].clone(),
            body["from"].clone(),
            body["to"].clone()
        ]
    );
}

#[tokio::test]
async fn faulty_manifests_change_nothing_and_all_their_faults_are_told_at_once() {
    let kernel = Here::start(home()).await;
    allow_replies(&kernel.home);
    edit(
        &kernel.home,
        "manifests/packs/ask.yaml",
        STATUS,
        "openspine.status.raed",
    );
    edit(
        &kernel.home,
        "manifests/agents/ask.yaml",
        "persona: plain",
        "personality: plain",
    );
    edit(
        &kernel.home,
        "manifests/routes/ask.yaml",
        "workflow: ask",
        "workflow: task",
    );
    let answer = reload(&kernel).await;
    answer.refused_with_more(422, "input_invalid", "manifests_faulty");
    let told = answer.at("/error/message");
    for part in [
        "agents/ask.yaml:6:",
        "`personality`",
        "routes/ask.yaml:",
        "there is no workflow `task`",
    ] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    assert_eq!(
        kernel.tools(&task(&kernel).await.token).await,
        ["openspine-status-read"]
    );

    // An id that does not exist is told where the set is one.
    edit(
        &kernel.home,
        "manifests/agents/ask.yaml",
        "personality: plain",
        "persona: plain",
    );
    edit(
        &kernel.home,
        "manifests/routes/ask.yaml",
        "workflow: task",
        "workflow: ask",
    );
    let told = reload(&kernel).await.at("/error/message");
    assert!(
        told.contains("`openspine.status.raed` is listed and does not exist"),
        "{told}"
    );
    edit(
        &kernel.home,
        "manifests/packs/ask.yaml",
        "openspine.status.raed",
        STATUS,
    );
    assert_eq!(reload(&kernel).await.json()["changed"], true);
    assert_eq!(kernel.tools(&task(&kernel).await.token).await.len(), 2);
    let kinds = kernel.home.ledger().await.into_iter();
    assert_eq!(
        kinds.filter(|(kind, _)| kind == "manifests_loaded").count(),
        1
    );
}

#[tokio::test]
async fn nobody_but_the_owner_has_manifests_loaded() {
    let kernel = Here::start(home()).await;
    allow_replies(&kernel.home);
    let worker = task(&kernel).await.token;
    for key in [worker, kernel.connector_key("desk"), "no key".to_owned()] {
        let answer = kernel
            .post("/v1/owner/manifests/reload", Some(&key), "{}")
            .await;
        answer.refused(401, "unauthenticated", "token_invalid");
    }
    assert_eq!(kernel.tools(&task(&kernel).await.token).await.len(), 1);
}

#[tokio::test]
async fn what_waits_is_bound_to_the_manifests_of_then() {
    let waits = Authority {
        name: "ask",
        approval: &[STATUS],
        ..Authority::default()
    };
    let kernel = Here::start(Home::desk("chat", &[waits], "")).await;
    let task = task(&kernel).await;
    let held = kernel.ask(&task.token, STATUS, json!({})).await;
    assert_eq!(held.status, 202, "{held:?}");
    edit(
        &kernel.home,
        "manifests/agents/ask.yaml",
        "persona: plain",
        "persona: polite",
    );
    assert_eq!(reload(&kernel).await.status, 200);
    let path = format!("/v1/owner/calls/{}", held.at("/request_id"));
    let binding = kernel.owner_get(&path).await.json()["call"]["binding"].clone();
    let answer = kernel
        .owner_post(&format!("{path}/approve"), &json!({"binding": binding}))
        .await;
    assert_eq!(
        answer.at("/reason"),
        "approval_digest_mismatch",
        "{answer:?}"
    );
}

/// Asks the program again and again, a bounded number of times, until its log has these words.
async fn logged(kernel: &Program, words: &str) {
    for _ in 0..20_000 {
        if kernel.log().contains(words) {
            return;
        }
        assert_eq!(kernel.get("/healthz", None).await.status, 200);
    }
    panic!("{words:?} is not in the log:\n{}", kernel.log());
}

#[tokio::test]
async fn a_hangup_loads_manifests_and_faulty_ones_are_told_in_the_log() {
    let kernel = Program::start(home());
    allow_replies(&kernel.home);
    edit(
        &kernel.home,
        "manifests/packs/ask.yaml",
        "lifecycle_state",
        "lifecyle_state",
    );
    edit(
        &kernel.home,
        "manifests/agents/ask.yaml",
        "persona",
        "personality",
    );
    kernel.signal("HUP");
    logged(&kernel, "those of before stay in force").await;
    let log = kernel.log();
    assert!(
        log.contains("`lifecyle_state`") && log.contains("`personality`"),
        "{log}"
    );
    assert_eq!(kernel.tools(&task(&kernel).await.token).await.len(), 1);

    edit(
        &kernel.home,
        "manifests/packs/ask.yaml",
        "lifecyle_state",
        "lifecycle_state",
    );
    edit(
        &kernel.home,
        "manifests/agents/ask.yaml",
        "personality",
        "persona",
    );
    kernel.signal("HUP");
    logged(&kernel, "other manifests are in force").await;
    assert_eq!(kernel.tools(&task(&kernel).await.token).await.len(), 2);

    let (done, said) = kernel.command(&["reload"]);
    assert!(
        done && said.starts_with("nothing has changed: sha256:"),
        "{said}"
    );
}
