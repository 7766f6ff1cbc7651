//! What waits is decided on by those who may, as they saw it; what is approved runs once, just as it was seen.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use std::sync::{Arc, Mutex};

use actum::{ActionError, Call, Registry, Secret, Selection, action};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection};

use support::answer::Answer;
use support::client::Task;
use support::home::{Authority, Home};
use support::kernel::Here;

/// What was sent, in order.
#[derive(Clone, Default)]
struct Outbox(Arc<Mutex<Vec<String>>>);

impl Outbox {
    fn sent(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

#[derive(Deserialize, JsonSchema)]
struct Letter {
    to: String,
    text: String,
}

/// Sends; the owner has to approve.
#[action(id = "post.send", description = "Send a letter.", approval_required)]
async fn send(outbox: &Outbox, _: &Call, letter: Letter) -> Result<usize, ActionError> {
    let mut sent = outbox.0.lock().unwrap();
    sent.push(format!("{}: {}", letter.to, letter.text));
    Ok(sent.len())
}

#[derive(Deserialize, JsonSchema)]
struct WithKey {
    key: Secret<String>,
}

/// Sends with a secret in its arguments.
#[action(
    id = "post.unlock",
    description = "Unlock with a key.",
    approval_required
)]
async fn unlock(outbox: &Outbox, ask: WithKey) -> Result<(), ActionError> {
    outbox.0.lock().unwrap().push(ask.key.expose().clone());
    Ok(())
}

#[derive(Deserialize, JsonSchema)]
struct Stamps {
    count: u32,
}

/// Buys; nothing of it is secret.
#[action(id = "post.stamps", description = "Buy stamps.", approval_required)]
async fn stamps(outbox: &Outbox, ask: Stamps) -> Result<(), ActionError> {
    outbox.0.lock().unwrap().push(ask.count.to_string());
    Ok(())
}

/// Answers what was selected.
#[action(
    id = "post.answer",
    description = "Answer the letter that was selected.",
    approval_required,
    selection_token = "email_thread_selection"
)]
async fn answer(outbox: &Outbox, selected: &Selection, letter: Letter) -> Result<(), ActionError> {
    let told = format!("{} in {}: {}", letter.to, selected.target, letter.text);
    outbox.0.lock().unwrap().push(told);
    Ok(())
}

const PEOPLE: &str = "identities:
  - identity_id: 01J00000000000000000000ADA
    principal_id: 01J00000000000000000000ADA
    relationship: owner
    identifiers:
      - { kind: handle, value: ada, verified_by: [chat] }
  - identity_id: 01J00000000000000000000K1M
    principal_id: 01J00000000000000000000K1M
    relationship: colleague
    identifiers:
      - { kind: handle, value: kim, verified_by: [chat] }
";

/// A home with the three actions for everybody, and these lines about approvals.
fn home(approvals: &str) -> Home {
    let work = Authority {
        name: "work",
        allowed: &["post.send", "post.unlock", "post.answer", "post.stamps"],
        seconds: 3_600,
        ..Authority::default()
    };
    let people = PEOPLE.replace("relationship: colleague", "relationship: client");
    Home::desk("chat", &[work], &format!("{people}{approvals}"))
}

async fn kernel(outbox: &Outbox, home: Home) -> Here {
    let registry = Registry::new(actum::actions![send, unlock, answer, stamps], []).unwrap();
    Here::start_with(home, |builder| {
        builder.registry(registry).resource(outbox.clone())
    })
    .await
}

/// The task of somebody, or of nobody known.
async fn task(kernel: &Here, handle: &str) -> Task {
    let event = json!({
        "event_type": "work", "channel_account": "room", "actor_hint": {"handle": handle},
        "target_refs": [{"type": "email_thread", "id": "thread-7"}],
    });
    kernel.begin("desk", &event).await
}

fn letter(text: &str) -> Value {
    json!({"to": "kim", "text": text})
}

/// A call that waits: its id and its binding.
async fn held(kernel: &Here, token: &str, arguments: Value) -> (String, Value) {
    let answer = kernel.ask(token, "post.send", arguments).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let id = answer.at("/request_id");
    let binding = shown(kernel, &id).await["binding"].clone();
    (id, binding)
}

async fn shown(kernel: &Here, id: &str) -> Value {
    let answer = kernel.owner_get(&format!("/v1/owner/calls/{id}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["call"].clone()
}

async fn decide(kernel: &Here, key: &str, id: &str, verb: &str, body: Value) -> Answer {
    let path = format!("/v1/owner/calls/{id}/{verb}");
    let key = kernel.key(key);
    kernel.post(&path, Some(&key), body.to_string()).await
}

async fn approve(kernel: &Here, id: &str, binding: &Value) -> Answer {
    decide(kernel, "owner", id, "approve", json!({"binding": binding})).await
}

async fn kinds(kernel: &Here) -> Vec<String> {
    let ledger = kernel.home.ledger().await;
    ledger.into_iter().map(|(kind, _)| kind).collect()
}

/// Changes the store behind the kernel's back.
async fn tamper(home: &Home, sql: &str) {
    let file = SqliteConnectOptions::new().filename(home.data().join("actum.db"));
    let mut store = SqliteConnection::connect_with(&file).await.unwrap();
    let done = sqlx::query(AssertSqlSafe(sql.to_owned()))
        .execute(&mut store)
        .await
        .unwrap();
    assert_eq!(done.rows_affected(), 1, "{sql}");
    store.close().await.unwrap();
}

#[tokio::test]
async fn what_is_approved_runs_once_as_it_was_seen_and_each_step_is_recorded() {
    let outbox = Outbox::default();
    let kernel = kernel(&outbox, home("")).await;
    let task = task(&kernel, "nobody").await;
    let (id, binding) = held(&kernel, &task.token, letter("Hello")).await;
    let call = shown(&kernel, &id).await;
    assert_eq!(call["arguments"], letter("Hello"));
    assert_eq!(
        (&call["action"], &call["state"]),
        (&json!("post.send"), &json!("pending"))
    );
    assert_eq!(call["description"], "Send a letter.");
    assert_eq!(outbox.sent(), [""; 0]);

    let answer = approve(&kernel, &id, &binding).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(
        (answer.at("/state"), answer.json()["result"].clone()),
        ("succeeded".into(), json!(1))
    );
    assert_eq!(outbox.sent(), ["kim: Hello"]);
    let state = kernel.state(&task.token, &id).await;
    assert_eq!(
        (state.at("/state"), state.json()["result"].clone()),
        ("succeeded".into(), json!(1))
    );

    // A second click, and a rejection that comes late, change nothing.
    for verb in ["approve", "reject"] {
        let again = decide(&kernel, "owner", &id, verb, json!({"binding": binding})).await;
        again.refused(409, "input_invalid", "not_pending");
    }
    assert_eq!(outbox.sent().len(), 1);
    let kinds = kinds(&kernel).await;
    assert_eq!(
        kinds[2..],
        [
            "call_pending",
            "call_approved",
            "call_started",
            "call_succeeded"
        ]
    );
}

#[tokio::test]
async fn of_many_approvals_at_once_one_counts() {
    let outbox = Outbox::default();
    let kernel = kernel(&outbox, home("")).await;
    let task = task(&kernel, "nobody").await;
    let (id, binding) = held(&kernel, &task.token, letter("Once")).await;
    let mut clicks = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let client = support::client::Client::clone(&kernel);
        let body = json!({"binding": binding}).to_string();
        let path = format!("/v1/owner/calls/{id}/approve");
        clicks.spawn(async move {
            let key = client.key("owner");
            client.post(&path, Some(&key), body).await.status
        });
    }
    let statuses = clicks.join_all().await;
    assert_eq!(
        statuses.iter().filter(|status| **status == 200).count(),
        1,
        "{statuses:?}"
    );
    assert_eq!(outbox.sent(), ["kim: Once"]);
}

#[tokio::test]
async fn what_its_worker_takes_back_is_decided_on_no_more_and_never_runs() {
    let outbox = Outbox::default();
    let kernel = kernel(&outbox, home("")).await;
    let (task, other) = (task(&kernel, "nobody").await, task(&kernel, "nobody").await);
    let cancel = async |token: &str, id: &str| {
        let path = format!("/v1/actions/{id}/cancel");
        kernel.post(&path, Some(token), String::new()).await
    };
    let body = json!({
        "action": "post.send", "arguments": letter("No"), "idempotency_key": "once",
    });
    let id = kernel.call(&task.token, &body).await.at("/request_id");
    let binding = shown(&kernel, &id).await["binding"].clone();
    // It is not another's to take back, and theirs is one answer with that for what never was.
    let foreign = cancel(&other.token, &id).await;
    foreign.refused(404, "operation_absent", "unknown_request");
    assert_eq!(foreign, cancel(&other.token, "never").await);
    assert_eq!(shown(&kernel, &id).await["state"], "pending");

    let taken_back = cancel(&task.token, &id).await;
    assert_eq!(taken_back.at("/state"), "cancelled");
    // Again it is as it is.
    assert_eq!(cancel(&task.token, &id).await, taken_back);
    assert_eq!(kernel.state(&task.token, &id).await, taken_back);
    let late = approve(&kernel, &id, &binding).await;
    late.refused(409, "input_invalid", "not_pending");
    let waiting = kernel.owner_get("/v1/owner/calls").await.json();
    assert_eq!(waiting["calls"], json!([]));
    // Its key names what was taken back.
    let again = kernel.call(&task.token, &body).await;
    again.refused_with_more(403, "policy_denied", "approval_missing");

    // What ran is not taken back.
    let (id, binding) = held(&kernel, &task.token, letter("Yes")).await;
    approve(&kernel, &id, &binding).await;
    let late = cancel(&task.token, &id).await;
    late.refused(409, "input_invalid", "not_pending");
    assert_eq!(outbox.sent(), ["kim: Yes"]);
    let kinds = kinds(&kernel).await;
    assert_eq!(
        kinds
            .iter()
            .filter(|kind| *kind == "call_cancelled")
            .count(),
        1
    );
}

#[tokio::test]
async fn what_is_rejected_never_runs_and_its_reason_is_told() {
    let outbox = Outbox::default();
    let kernel = kernel(&outbox, home("")).await;
    let task = task(&kernel, "nobody").await;
    let (id, binding) = held(&kernel, &task.token, letter("No")).await;
    let body = json!({"binding": binding, "reason": "not today"});
    let answer = decide(&kernel, "owner", &id, "reject", body).await;
    assert_eq!(answer.at("/state"), "rejected");
    let state = kernel.state(&task.token, &id).await;
    assert_eq!(
        (state.at("/state"), state.at("/reason")),
        ("rejected".into(), "not today".into())
    );
    approve(&kernel, &id, &binding)
        .await
        .refused(409, "input_invalid", "not_pending");
    assert!(outbox.sent().is_empty());
    // An honest retry is a call of its own.
    let (again, _) = held(&kernel, &task.token, letter("No")).await;
    assert_ne!(again, id);
}

#[tokio::test]
async fn a_decision_on_something_else_than_what_waits_does_not_count() {
    let outbox = Outbox::default();
    let kernel = kernel(&outbox, home("")).await;
    let task = task(&kernel, "nobody").await;
    let (one, of_one) = held(&kernel, &task.token, letter("One")).await;
    let (two, of_two) = held(&kernel, &task.token, letter("Two")).await;
    assert_ne!(of_one, of_two);
    let answer = approve(&kernel, &two, &of_one).await;
    answer.refused(409, "input_invalid", "approval_digest_mismatch");
    let answer = decide(&kernel, "owner", &two, "approve", json!({})).await;
    answer.refused(400, "input_invalid", "request_malformed");
    let answer = approve(&kernel, "01J0000000000000000000CA11", &of_one).await;
    answer.refused(404, "input_invalid", "unknown_request");
    for token in [&task.token, "no key"] {
        let path = format!("/v1/owner/calls/{one}/approve");
        let body = json!({"binding": of_one}).to_string();
        let answer = kernel.post(&path, Some(token), body).await;
        answer.refused(401, "unauthenticated", "token_invalid");
    }
    assert!(outbox.sent().is_empty());
    assert_eq!(approve(&kernel, &one, &of_one).await.status, 200);
    assert_eq!(outbox.sent(), ["kim: One"]);
}

#[tokio::test]
async fn a_call_waits_until_the_second_of_its_expiry_and_no_longer() {
    let outbox = Outbox::default();
    let kernel = kernel(&outbox, home("approvals: { expires_seconds: 60 }\n")).await;
    let task = task(&kernel, "nobody").await;
    let (early, of_early) = held(&kernel, &task.token, letter("Early")).await;
    let (late, of_late) = held(&kernel, &task.token, letter("Late")).await;
    kernel.pass(59);
    assert_eq!(approve(&kernel, &early, &of_early).await.status, 200);
    kernel.pass(1);
    let state = kernel.state(&task.token, &late).await;
    assert_eq!(state.at("/state"), "expired", "whoever asks first");
    approve(&kernel, &late, &of_late)
        .await
        .refused(409, "input_invalid", "not_pending");
    let state = kernel.state(&task.token, &late).await;
    assert_eq!(state.at("/state"), "expired");
    assert_eq!(outbox.sent(), ["kim: Early"]);
    assert_eq!(kinds(&kernel).await.last().unwrap(), "call_expired");
}

#[tokio::test]
async fn one_character_changed_after_the_approval_and_nothing_runs() {
    let changes = [
        (
            "arguments",
            "UPDATE calls SET arguments = replace(arguments, 'Hello', 'Hallo')",
        ),
        ("action", "UPDATE calls SET action = 'post.unlock'"),
        (
            "selection",
            "UPDATE calls SET binding = 'sha256:0000000000000000000000000000000000000000000000000000000000000000'",
        ),
    ];
    for (what, sql) in changes {
        let outbox = Outbox::default();
        let first = kernel(&outbox, home("")).await;
        let task = task(&first, "nobody").await;
        let (id, binding) = held(&first, &task.token, letter("Hello")).await;
        let stopped = first.stopped().await;
        // As after a crash between the approval and the beginning.
        tamper(
            &stopped,
            &format!(
                "INSERT INTO decisions (call_id, approver, decision, binding, at)
             VALUES ('{id}', 'owner', 'approved', {binding}, '2026-09-22T08:00:00Z')"
            )
            .replace('"', "'"),
        )
        .await;
        tamper(&stopped, "UPDATE calls SET state = 'approved'").await;
        tamper(&stopped, sql).await;
        let kernel = kernel(&outbox, stopped).await;
        let state = settled(&kernel, &task.token, &id).await;
        assert_eq!(state.at("/state"), "refused", "{what}: {state:?}");
        assert_eq!(state.at("/reason"), "approval_digest_mismatch", "{what}");
        assert!(outbox.sent().is_empty(), "{what}");
    }
}

/// The state of a call once it is neither approved nor running, looked for a bounded number of times.
async fn settled(kernel: &Here, token: &str, id: &str) -> Answer {
    for _ in 0..2_000 {
        let state = kernel.state(token, id).await;
        if !["approved", "running"].contains(&state.at("/state").as_str()) {
            return state;
        }
        tokio::task::yield_now().await;
    }
    panic!("the call {id} does not end");
}

#[tokio::test]
async fn what_was_approved_before_a_crash_runs_at_the_next_start_once() {
    let outbox = Outbox::default();
    let first = kernel(&outbox, home("")).await;
    let task = task(&first, "nobody").await;
    let (id, binding) = held(&first, &task.token, letter("Hello")).await;
    let stopped = first.stopped().await;
    tamper(
        &stopped,
        &format!(
            "INSERT INTO decisions (call_id, approver, decision, binding, at)
         VALUES ('{id}', 'owner', 'approved', {binding}, '2026-09-22T08:00:00Z')"
        )
        .replace('"', "'"),
    )
    .await;
    tamper(&stopped, "UPDATE calls SET state = 'approved'").await;
    let kernel_again = kernel(&outbox, stopped).await;
    let state = settled(&kernel_again, &task.token, &id).await;
    assert_eq!(state.at("/state"), "succeeded", "{state:?}");
    assert_eq!(outbox.sent(), ["kim: Hello"]);
    let stopped = kernel_again.stopped().await;
    let third = kernel(&outbox, stopped).await;
    assert_eq!(
        third.state(&task.token, &id).await.at("/state"),
        "succeeded"
    );
    assert_eq!(outbox.sent().len(), 1);
}

#[tokio::test]
async fn a_revoked_task_and_other_manifests_refuse_what_was_approved() {
    let outbox = Outbox::default();
    let first = kernel(&outbox, home("")).await;
    let task_of_nobody = task(&first, "nobody").await;
    let (revoked, of_revoked) = held(&first, &task_of_nobody.token, letter("Revoked")).await;
    let path = format!("/v1/owner/tasks/{}/revoke", task_of_nobody.id);
    assert_eq!(first.owner_post(&path, &json!({})).await.status, 200);
    let answer = approve(&first, &revoked, &of_revoked).await;
    answer.refused(409, "input_invalid", "not_pending");
    let call = shown(&first, &revoked).await;
    assert_eq!(
        (&call["state"], &call["reason"]),
        (&json!("expired"), &json!("grant_expired"))
    );

    let other = task(&first, "nobody").await;
    let (held_then, binding) = held(&first, &other.token, letter("Then")).await;
    let stopped = first.stopped().await;
    let policy =
        std::fs::read_to_string(stopped.path().join("manifests/policies/global.yaml")).unwrap();
    stopped.write(
        "manifests/policies/global.yaml",
        &format!("{policy}# another revision\n"),
    );
    let second = kernel(&outbox, stopped).await;
    let answer = approve(&second, &held_then, &binding).await;
    assert_eq!(
        answer.at("/reason"),
        "approval_digest_mismatch",
        "{answer:?}"
    );
    assert!(outbox.sent().is_empty());
}

#[tokio::test]
async fn an_edited_call_takes_the_place_of_the_first_and_waits_in_its_turn() {
    let outbox = Outbox::default();
    let kernel = kernel(&outbox, home("")).await;
    let task = task(&kernel, "nobody").await;
    let (id, binding) = held(&kernel, &task.token, letter("Hullo")).await;
    let unfit = json!({"binding": binding, "arguments": {"to": "kim", "text": 5}});
    let answer = decide(&kernel, "owner", &id, "edit", unfit).await;
    answer.refused_with_more(400, "input_invalid", "input_schema_invalid");
    assert_eq!(
        shown(&kernel, &id).await["state"],
        "pending",
        "it is as it was"
    );

    let edited = json!({"binding": binding, "arguments": letter("Hello")});
    let answer = decide(&kernel, "owner", &id, "edit", edited).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let new = answer.at("/call");
    let state = kernel.state(&task.token, &id).await;
    assert_eq!(
        (state.at("/state"), state.at("/superseded_by")),
        ("rejected".into(), new.clone())
    );
    approve(&kernel, &id, &binding)
        .await
        .refused(409, "input_invalid", "not_pending");
    assert!(outbox.sent().is_empty());
    let binding = shown(&kernel, &new).await["binding"].clone();
    assert_eq!(
        approve(&kernel, &new, &binding).await.at("/state"),
        "succeeded"
    );
    assert_eq!(outbox.sent(), ["kim: Hello"]);
}

#[tokio::test]
async fn nobody_decides_on_a_call_of_their_own_task_but_a_solo_owner_who_says_so() {
    let others = "  approvers:\n    - { id: kim, principal_id: 01J00000000000000000000K1M }\n";
    for solo in [false, true] {
        let outbox = Outbox::default();
        let home = home(&format!("approvals:\n  solo_owner: {solo}\n{others}"));
        let kernel = kernel(&outbox, home).await;
        let [of_ada, of_kim] = [task(&kernel, "ada").await, task(&kernel, "kim").await];
        let (adas, binding) = held(&kernel, &of_ada.token, letter("Ada's")).await;
        let answer = approve(&kernel, &adas, &binding).await;
        match solo {
            true => assert_eq!(answer.at("/state"), "succeeded"),
            false => answer.refused(403, "policy_denied", "self_approval_conflict"),
        }
        let by_kim = decide(
            &kernel,
            "approver-kim",
            &adas,
            "approve",
            json!({"binding": binding}),
        )
        .await;
        assert_eq!(by_kim.status, if solo { 409 } else { 200 }, "{by_kim:?}");
        let (kims, binding) = held(&kernel, &of_kim.token, letter("Kim's")).await;
        let own = decide(
            &kernel,
            "approver-kim",
            &kims,
            "approve",
            json!({"binding": binding}),
        )
        .await;
        own.refused(403, "policy_denied", "self_approval_conflict");
        assert_eq!(
            approve(&kernel, &kims, &binding).await.at("/state"),
            "succeeded"
        );
        let ledger = kernel.home.ledger().await;
        let approved = ledger
            .iter()
            .find(|(kind, _)| kind == "call_approved")
            .unwrap();
        assert_eq!(approved.1["solo_owner"], solo);
    }
}

#[tokio::test]
async fn where_two_have_to_approve_one_is_not_enough_and_one_rejection_is() {
    let approvals = "approvals:\n  quorum: 2\n  approvers:\n    - { id: kim, principal_id: 01J00000000000000000000K1M }\n";
    let outbox = Outbox::default();
    let kernel = kernel(&outbox, home(approvals)).await;
    let task = task(&kernel, "nobody").await;
    let (id, binding) = held(&kernel, &task.token, letter("Both")).await;
    let body = || json!({"binding": binding});
    let first = decide(&kernel, "owner", &id, "approve", body()).await;
    assert_eq!(first.at("/state"), "pending");
    let again = decide(&kernel, "owner", &id, "approve", body()).await;
    again.refused(409, "input_invalid", "decided_already");
    assert!(outbox.sent().is_empty());
    let second = decide(&kernel, "approver-kim", &id, "approve", body()).await;
    assert_eq!(second.at("/state"), "succeeded");
    assert_eq!(outbox.sent(), ["kim: Both"]);

    let (id, binding) = held(&kernel, &task.token, letter("Neither")).await;
    let body = || json!({"binding": binding});
    assert_eq!(
        decide(&kernel, "owner", &id, "approve", body())
            .await
            .at("/state"),
        "pending"
    );
    assert_eq!(
        decide(&kernel, "approver-kim", &id, "reject", body())
            .await
            .at("/state"),
        "rejected"
    );
    assert_eq!(outbox.sent().len(), 1);
}

#[tokio::test]
async fn a_selection_is_spent_by_the_call_that_waits_and_serves_it_as_long_as_it_does() {
    let outbox = Outbox::default();
    let kernel = kernel(&outbox, home("")).await;
    let task = task(&kernel, "nobody").await;
    let ask = json!({
        "action": "post.answer", "arguments": letter("Yes"), "selection_token": task.selections[0],
    });
    let held = kernel.call(&task.token, &ask).await;
    assert_eq!(held.status, 202, "{held:?}");
    let id = held.at("/request_id");
    kernel
        .call(&task.token, &ask)
        .await
        .refused(403, "policy_denied", "selection_token_invalid");
    let call = shown(&kernel, &id).await;
    assert_eq!(call["target"], "thread-7");
    let edited = json!({"binding": call["binding"], "arguments": letter("Yes, please")});
    let new = decide(&kernel, "owner", &id, "edit", edited)
        .await
        .at("/call");
    // The token's own time is over by now.
    kernel.pass(400);
    let binding = shown(&kernel, &new).await["binding"].clone();
    assert_eq!(
        approve(&kernel, &new, &binding).await.at("/state"),
        "succeeded"
    );
    assert_eq!(outbox.sent(), ["kim in thread-7: Yes, please"]);
}

#[tokio::test]
async fn a_number_that_is_written_otherwise_hides_nothing() {
    let outbox = Outbox::default();
    let kernel = kernel(&outbox, home("")).await;
    let task = task(&kernel, "nobody").await;
    let ask = json!({"count": 5.0});
    let held = kernel.ask(&task.token, "post.stamps", ask).await;
    let call = shown(&kernel, &held.at("/request_id")).await;
    assert_eq!(call["arguments"], json!({"count": 5}));
    assert_eq!(call["hides_secrets"], false, "{call}");
    let answer = approve(&kernel, &held.at("/request_id"), &call["binding"]).await;
    assert_eq!(answer.at("/state"), "succeeded");
    assert_eq!(outbox.sent(), ["5"]);
}

#[tokio::test]
async fn a_secret_argument_waits_unseen_and_is_gone_when_the_call_ends() {
    const SENTINEL: &str = "sentinel-4711-swordfish";
    let outbox = Outbox::default();
    let kernel = kernel(&outbox, home("")).await;
    let task = task(&kernel, "nobody").await;
    let held = kernel
        .ask(&task.token, "post.unlock", json!({"key": SENTINEL}))
        .await;
    let id = held.at("/request_id");
    let call = shown(&kernel, &id).await;
    assert_eq!(
        (&call["arguments"], &call["hides_secrets"]),
        (&json!({"key": "[SECRET]"}), &json!(true))
    );
    let answer = approve(&kernel, &id, &call["binding"]).await;
    assert_eq!(answer.at("/state"), "succeeded", "{answer:?}");
    assert_eq!(outbox.sent(), [SENTINEL]);
    for (path, bytes) in kernel.home.traces() {
        let found = bytes
            .windows(SENTINEL.len())
            .any(|window| window == SENTINEL.as_bytes());
        assert!(!found, "{}", path.display());
    }
    let file = SqliteConnectOptions::new()
        .filename(kernel.home.data().join("actum.db"))
        .read_only(true);
    let mut store = SqliteConnection::connect_with(&file).await.unwrap();
    let kept: i64 = sqlx::query_scalar("SELECT count(*) FROM calls WHERE sealed IS NOT NULL")
        .fetch_one(&mut store)
        .await
        .unwrap();
    assert_eq!(kept, 0);
}
