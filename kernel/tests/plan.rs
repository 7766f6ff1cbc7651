//! A plan is checked as a whole before it waits, approved as a whole, and carried out step by step, each on its own.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test says where it fails

mod support;

use std::sync::{Arc, Mutex};

use actum::{ActionError, Registry, Secret, Selection, action};
use actum_kernel::actions::plan;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Notify;

use support::answer::Answer;
use support::client::Task;
use support::home::{Authority, Home};
use support::kernel::Here;

/// What was done, in order, and a door that one handler waits at.
#[derive(Clone, Default)]
struct Done {
    all: Arc<Mutex<Vec<String>>>,
    begun: Arc<Notify>,
    go_on: Arc<Notify>,
}

impl Done {
    fn all(&self) -> Vec<String> {
        self.all.lock().unwrap().clone()
    }

    fn add(&self, text: String) {
        self.all.lock().unwrap().push(text);
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Note {
    text: String,
}

#[action(id = "note.write", description = "Write a note.")]
async fn write(done: &Done, note: Note) -> Result<(), ActionError> {
    done.add(format!("wrote {}", note.text));
    Ok(())
}

#[action(id = "note.wait", description = "Write a note once the door is open.")]
async fn wait(done: &Done, note: Note) -> Result<(), ActionError> {
    done.begun.notify_one();
    done.go_on.notified().await;
    done.add(format!("waited for {}", note.text));
    Ok(())
}

#[action(id = "note.send", description = "Send a note.", approval_required)]
async fn send(done: &Done, note: Note) -> Result<(), ActionError> {
    if note.text == "broken" {
        return Err(ActionError::failed("no"));
    }
    done.add(format!("sent {}", note.text));
    Ok(())
}

#[action(
    id = "note.answer",
    description = "Answer what was selected.",
    selection_token = "email_thread_selection"
)]
async fn answer(done: &Done, selected: &Selection, note: Note) -> Result<(), ActionError> {
    let told = format!("answered {}: {}", selected.target, note.text);
    done.add(told);
    Ok(())
}

#[derive(Deserialize, JsonSchema)]
struct WithKey {
    key: Secret<String>,
}

#[action(id = "note.unlock", description = "Unlock with a key.")]
async fn unlock(done: &Done, ask: WithKey) -> Result<(), ActionError> {
    done.add(ask.key.expose().clone());
    Ok(())
}

#[action(id = "note.burn", description = "Burn all notes.")]
async fn burn(done: &Done) -> Result<(), ActionError> {
    done.add("burnt".to_owned());
    Ok(())
}

const PEOPLE: &str = "identities:
  - identity_id: 01J00000000000000000000ADA
    principal_id: 01J00000000000000000000ADA
    relationship: owner
    identifiers:
      - { kind: handle, value: ada, verified_by: [chat] }
";

async fn kernel(done: &Done) -> (Here, Task) {
    let work = Authority {
        name: "work",
        allowed: &[
            "note.write",
            "note.wait",
            "note.send",
            "note.answer",
            "note.unlock",
            "plan.propose",
        ],
        denied: &["note.burn"],
        seconds: 3_600,
        ..Authority::default()
    };
    let home = Home::desk("chat", &[work], PEOPLE);
    let actions = actum::actions![write, wait, send, answer, unlock, burn, plan::propose];
    let registry = Registry::new(actions, []).unwrap();
    let kernel = Here::start_with(home, |builder| {
        builder.registry(registry).resource(done.clone())
    })
    .await;
    let event = json!({
        "event_type": "work", "channel_account": "room", "actor_hint": {"handle": "kim"},
        "target_refs": [{"type": "email_thread", "id": "thread-7"}],
    });
    let task = kernel.begin("desk", &event).await;
    (kernel, task)
}

fn step(action: &str, text: &str) -> Value {
    json!({"action": action, "arguments": {"text": text}, "why": "it was asked for"})
}

async fn propose(kernel: &Here, task: &Task, steps: Value) -> Answer {
    let plan = json!({"goal": "Get it done", "steps": steps});
    kernel.ask(&task.token, "plan.propose", plan).await
}

/// The plan as it waits: its path, and the call as the owner is told of it.
async fn waiting(kernel: &Here, answer: &Answer) -> (String, Value) {
    assert_eq!(answer.status, 202, "{answer:?}");
    let path = format!("/v1/owner/calls/{}", answer.at("/request_id"));
    let call = kernel.owner_get(&path).await.json()["call"].clone();
    (path, call)
}

async fn approve(kernel: &Here, answer: &Answer) -> Value {
    let (path, call) = waiting(kernel, answer).await;
    let body = json!({"binding": call["binding"]});
    let approved = kernel.owner_post(&format!("{path}/approve"), &body).await;
    assert_eq!(approved.status, 200, "{approved:?}");
    approved.json()
}

fn states(result: &Value) -> Vec<&str> {
    let steps = result["steps"].as_array().unwrap();
    steps
        .iter()
        .map(|it| it["state"].as_str().unwrap())
        .collect()
}

/// Each fault's place.
fn places(answer: &Answer) -> Vec<String> {
    answer.refused(400, "input_invalid", "input_schema_invalid");
    let json = answer.json();
    let faults = json["error"]["faults"].as_array().unwrap();
    faults
        .iter()
        .map(|it| it["at"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn an_approved_plan_makes_its_calls_in_order_each_recorded_as_one_of_its_own() {
    let done = Done::default();
    let (kernel, task) = kernel(&done).await;
    let mut to_thread = step("note.answer", "yes");
    to_thread["selection_token"] = json!(task.selections[0]);
    let steps = json!([step("note-write", "a"), step("note.send", "b"), to_thread]);
    let answer = propose(&kernel, &task, steps).await;
    let (_, call) = waiting(&kernel, &answer).await;
    let rendered = call["rendered"].as_str().unwrap();
    for piece in [
        "goal: Get it done",
        "step 2: note.send: Send a note.",
        "because: it was asked for",
        "text: \"b\"",
        "to: thread-7",
    ] {
        assert!(rendered.contains(piece), "{piece}\n{rendered}");
    }
    assert!(done.all().is_empty());

    let approved = approve(&kernel, &answer).await;
    assert_eq!(approved["state"], "succeeded", "{approved}");
    assert_eq!(approved["result"]["completed"], true);
    assert_eq!(done.all(), ["wrote a", "sent b", "answered thread-7: yes"]);
    assert_eq!(states(&approved["result"]), ["succeeded"; 3]);

    // The step that asks for approval was approved as itself, by its own binding, and says by which plan.
    let sent = approved["result"]["steps"][1]["call"].as_str().unwrap();
    let sent = kernel
        .owner_get(&format!("/v1/owner/calls/{sent}"))
        .await
        .json()["call"]
        .clone();
    assert_eq!(sent["decisions"][0]["binding"], sent["binding"]);
    assert_ne!(sent["binding"], call["binding"]);
    let why = format!("step 2 of the plan {}", answer.at("/request_id"));
    assert_eq!(sent["decisions"][0]["reason"], why);
    let home = kernel.stopped().await;
    let ledger = home.ledger().await;
    let approvals: Vec<&Value> = ledger
        .iter()
        .filter(|(kind, _)| kind == "call_approved")
        .map(|(_, body)| body)
        .collect();
    assert_eq!(approvals.len(), 2);
    assert_eq!(approvals[1]["plan"], answer.at("/request_id"));
}

#[tokio::test]
async fn all_faults_of_a_plan_are_told_at_once_and_nobody_is_asked() {
    let done = Done::default();
    let (kernel, task) = kernel(&done).await;
    let token = json!(task.selections[0]);
    let mut with_token = step("note.answer", "x");
    with_token["selection_token"] = token;
    let steps = json!([
        step("note.burn", "denied"),
        step("no.such", "unknown"),
        {"action": "note.write", "arguments": {"txt": 1}, "why": "w"},
        step("note.answer", "without a token"),
        {"action": "note.unlock", "arguments": {"key": "sentinel-4711"}, "why": "w"},
        {"action": "plan.propose", "arguments": {"goal": "g", "steps": []}, "why": "w"},
        with_token,
        with_token,
    ]);
    let answer = propose(&kernel, &task, steps).await;
    let expected = [
        "/steps/0/action",
        "/steps/1/action",
        "/steps/2/arguments",
        "/steps/2/arguments",
        "/steps/3/selection_token",
        "/steps/4/arguments",
        "/steps/5/action",
        "/steps/7/selection_token",
    ];
    assert_eq!(places(&answer), expected, "{answer:?}");
    let faults = answer.json()["error"]["faults"].clone();
    assert_eq!(
        faults[0]["problem"], faults[1]["problem"],
        "denied and unknown are one"
    );
    let calls = kernel.owner_get("/v1/owner/calls").await.json();
    assert_eq!(calls["calls"], json!([]));
    assert!(done.all().is_empty());
    let home = kernel.stopped().await;
    for (path, bytes) in home.traces() {
        let found = bytes.windows(13).any(|window| window == b"sentinel-4711");
        assert!(!found, "{}", path.display());
    }
}

#[tokio::test]
async fn a_plan_stops_at_the_first_step_that_does_not_succeed() {
    let done = Done::default();
    let (kernel, task) = kernel(&done).await;
    let steps = json!([
        step("note.write", "a"),
        step("note.send", "broken"),
        step("note.write", "c")
    ]);
    let answer = propose(&kernel, &task, steps).await;
    let approved = approve(&kernel, &answer).await;
    assert_eq!(approved["result"]["completed"], false);
    assert_eq!(states(&approved["result"]), ["succeeded", "failed"]);
    assert_eq!(done.all(), ["wrote a"]);
}

#[tokio::test]
async fn a_step_waits_for_its_own_approval_once_other_manifests_are_in_force() {
    let done = Done::default();
    let (kernel, task) = kernel(&done).await;
    let steps = json!([step("note.wait", "a"), step("note.send", "b")]);
    let answer = propose(&kernel, &task, steps).await;
    let (path, call) = waiting(&kernel, &answer).await;
    let body = json!({"binding": call["binding"]});
    let approving = {
        let (client, path) = ((*kernel).clone(), format!("{path}/approve"));
        tokio::spawn(async move { client.owner_post(&path, &body).await })
    };
    done.begun.notified().await;
    // While the first step runs.
    let file = kernel.home.path().join("manifests/agents/work.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let other = text.replace("persona: plain", "persona: polite");
    assert_ne!(other, text);
    std::fs::write(&file, other).unwrap();
    let reloaded = kernel
        .owner_post("/v1/owner/manifests/reload", &json!({}))
        .await;
    assert_eq!(reloaded.json()["changed"], true, "{reloaded:?}");
    done.go_on.notify_one();

    let approved = approving.await.unwrap().json();
    assert_eq!(approved["result"]["completed"], false, "{approved}");
    assert_eq!(states(&approved["result"]), ["succeeded", "pending"]);
    assert_eq!(done.all(), ["waited for a"]);
}

#[tokio::test]
async fn a_rejected_plan_does_nothing() {
    let done = Done::default();
    let (kernel, task) = kernel(&done).await;
    let answer = propose(&kernel, &task, json!([step("note.write", "a")])).await;
    let (path, call) = waiting(&kernel, &answer).await;
    let body = json!({"binding": call["binding"]});
    let rejected = kernel.owner_post(&format!("{path}/reject"), &body).await;
    assert_eq!(rejected.at("/state"), "rejected");
    assert!(done.all().is_empty());
}

#[tokio::test]
async fn a_plan_whose_token_was_spent_meanwhile_begins_no_step() {
    let done = Done::default();
    let (kernel, task) = kernel(&done).await;
    let mut to_thread = step("note.answer", "yes");
    to_thread["selection_token"] = json!(task.selections[0]);
    let answer = propose(&kernel, &task, json!([step("note.write", "a"), to_thread])).await;
    let call = json!({
        "action": "note.answer", "arguments": {"text": "now"}, "selection_token": task.selections[0],
    });
    assert_eq!(kernel.call(&task.token, &call).await.status, 200);
    let approved = approve(&kernel, &answer).await;
    assert_eq!(approved["state"], "refused", "{approved}");
    assert_eq!(done.all(), ["answered thread-7: now"]);
}

#[tokio::test]
async fn the_approval_of_a_plan_is_good_for_that_plan_alone() {
    let done = Done::default();
    let (kernel, task) = kernel(&done).await;
    let answer = propose(&kernel, &task, json!([step("note.send", "b")])).await;
    approve(&kernel, &answer).await;
    assert_eq!(done.all(), ["sent b"]);
    // The same call by itself waits like any other.
    let again = kernel
        .ask(&task.token, "note.send", json!({"text": "b"}))
        .await;
    assert_eq!(again.status, 202);
    assert_eq!(done.all(), ["sent b"]);
}
