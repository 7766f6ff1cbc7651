//! Manifests that a worker asks for: shown with what they would widen, in force once approved, taken back again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use actum_kernel::Kernel;
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection};

use support::answer::Answer;
use support::client::{Client, Task};
use support::home::{Authority, Home};
use support::kernel::{Here, Program};

const STATUS: &str = "openspine.status.read";
const REPLY: &str = "terminal.reply:owner_device";
const PROPOSE: &str = "artifact.propose";
const REVOKE: &str = "artifact.revoke";
const NOMINATE: &str = "artifact.nominate_upstream";
const PACK: &str = "manifests/packs/ask.yaml";

fn home() -> Home {
    let ask = Authority {
        name: "ask",
        allowed: &[STATUS, NOMINATE],
        approval: &[PROPOSE, REVOKE],
        channels: &["terminal.owner.reply"],
        seconds: 3_600,
        ..Authority::default()
    };
    with_room(Home::desk("chat", &[ask], ""))
}

/// Lets a task make many calls.
fn with_room(home: Home) -> Home {
    let path = "manifests/agents/ask.yaml";
    let agent = std::fs::read_to_string(home.path().join(path)).unwrap();
    let agent = agent.replace("max_artifacts: 1,", "max_artifacts: 100,");
    home.write(path, &agent);
    home
}

async fn task(kernel: &Client) -> Task {
    let event = json!({"event_type": "ask", "channel_account": "desk"});
    kernel.begin("desk", &event).await
}

/// The names of the tools that a task that begins now has, but for those about artifacts.
async fn tools_now(kernel: &Client) -> Vec<String> {
    let mut tools = kernel.tools(&task(kernel).await.token).await;
    tools.retain(|name| !name.starts_with("artifact-"));
    tools
}

/// The pack of all tasks, with one more action allowed.
fn pack_with(home: &Home, action: &str) -> String {
    let text = std::fs::read_to_string(home.path().join(PACK)).unwrap();
    let list = "candidate_allowed_actions: [";
    assert!(text.contains(list));
    text.replace(list, &format!("{list}{action:?}, "))
}

async fn propose(kernel: &Client, token: &str, kind: &str, manifest: &str) -> Answer {
    let ask = json!({"kind": kind, "manifest": manifest, "reason": "It is needed."});
    kernel.ask(token, PROPOSE, ask).await
}

async fn revoke(kernel: &Client, token: &str, id: &str) -> Answer {
    let ask = json!({"kind": "pack", "id": id, "reason": "It is not needed."});
    kernel.ask(token, REVOKE, ask).await
}

/// The id of a call that waits.
fn held(answer: &Answer) -> String {
    assert_eq!(answer.status, 202, "{answer:?}");
    answer.at("/request_id")
}

async fn shown(kernel: &Client, id: &str) -> Value {
    let answer = kernel.owner_get(&format!("/v1/owner/calls/{id}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["call"].clone()
}

async fn decide(kernel: &Client, id: &str, verb: &str) -> Answer {
    let binding = shown(kernel, id).await["binding"].clone();
    let path = format!("/v1/owner/calls/{id}/{verb}");
    kernel.owner_post(&path, &json!({"binding": binding})).await
}

async fn approved(kernel: &Client, id: &str) {
    let answer = decide(kernel, id, "approve").await;
    assert_eq!(answer.at("/state"), "succeeded", "{answer:?}");
}

/// Each version, as (name, version, state).
async fn versions(kernel: &Client) -> Vec<(String, i64, String)> {
    let answer = kernel.owner_get("/v1/owner/artifacts").await.json();
    let all = answer["artifacts"].as_array().unwrap().iter();
    let text = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
    all.map(|one| {
        let name = format!("{}/{}", text(one, "kind"), text(one, "id"));
        (name, one["version"].as_i64().unwrap(), text(one, "state"))
    })
    .collect()
}

#[tokio::test]
async fn what_is_proposed_is_shown_with_what_it_widens_and_is_in_force_once_it_is_approved() {
    let kernel = Here::start(home()).await;
    let worker = task(&kernel).await;
    let manifest = pack_with(&kernel.home, REPLY);
    let id = held(&propose(&kernel, &worker.token, "pack", &manifest).await);
    let call = shown(&kernel, &id).await;
    assert_eq!(call["arguments"]["manifest"], manifest.as_str());
    let change = &call["change"];
    assert_eq!(
        (&change["from"], &change["to"]),
        (
            &json!("file packs/ask.yaml"),
            &json!("artifact packs/ask v1")
        )
    );
    assert_eq!(
        change["routes"],
        json!({"route ask": [format!("`{REPLY}`: is shown, and was not: widens")]})
    );
    assert_eq!(change["summary"], "1 change: 1 widens");
    let lines = change["lines"].as_str().unwrap();
    assert!(
        lines.contains("\n-candidate_allowed_actions: [\"openspine"),
        "{lines}"
    );
    assert!(
        lines.contains("\n+candidate_allowed_actions: [\"terminal.reply"),
        "{lines}"
    );
    // Asking changes nothing.
    assert_eq!(tools_now(&kernel).await, ["openspine-status-read"]);
    assert_eq!(versions(&kernel).await, []);

    approved(&kernel, &id).await;
    let both = ["openspine-status-read", "terminal-reply--owner_device"];
    assert_eq!(tools_now(&kernel).await, both);
    let old = kernel.tools(&worker.token).await;
    assert!(
        !old.contains(&"terminal-reply--owner_device".to_owned()),
        "grants stay"
    );
    assert_eq!(
        versions(&kernel).await,
        [("packs/ask".to_owned(), 1, "active".to_owned())]
    );
    assert_eq!(shown(&kernel, &id).await["change"], Value::Null);

    let ledger = kernel.home.ledger().await;
    let activated: Vec<&Value> = ledger
        .iter()
        .filter(|(kind, _)| kind == "artifact_activated")
        .map(|(_, body)| body)
        .collect();
    let [body] = activated[..] else {
        panic!("{ledger:?}");
    };
    assert_eq!((&body["call"], &body["version"]), (&json!(id), &json!(1)));
    assert_ne!(body["from"], body["to"]);
    let issued = ledger
        .iter()
        .rfind(|(kind, _)| kind == "grant_issued")
        .unwrap();
    assert_eq!(issued.1["policy"], body["to"]);

    // The next start has it, too, and so has a reload.
    let kernel = Here::start(kernel.stopped().await).await;
    assert_eq!(tools_now(&kernel).await, both);
    let answer = kernel
        .owner_post("/v1/owner/manifests/reload", &json!({}))
        .await;
    assert_eq!(answer.json()["changed"], false, "{answer:?}");
}

#[tokio::test]
async fn what_is_no_manifest_is_refused_before_anybody_is_asked() {
    let kernel = Here::start(home()).await;
    let token = task(&kernel).await.token;
    let pack = std::fs::read_to_string(kernel.home.path().join(PACK)).unwrap();
    let cases = [
        ("pack", "id: [".to_owned(), "manifest:"),
        (
            "pack",
            pack.replace("applies_to", "aplies_to"),
            "did you mean `applies_to`",
        ),
        (
            "pack",
            pack.replace("lifecycle_state: active", "lifecycle_state: retired"),
            "`lifecycle_state` is `active`",
        ),
        ("agent", pack.clone(), "manifest:"),
        (
            "pack",
            format!("{pack}# \u{202e}evitca\n"),
            "cannot be shown",
        ),
        ("pack", pack.clone(), "it is in force already"),
    ];
    for (kind, manifest, told) in cases {
        let answer = propose(&kernel, &token, kind, &manifest).await;
        answer.refused_with_more(400, "input_invalid", "input_schema_invalid");
        let faults = answer.json()["error"]["faults"].to_string();
        assert!(faults.contains(told), "{told} is not in {faults}");
        let folder = kernel.home.path().display().to_string();
        assert!(!faults.contains(&folder), "{faults}");
    }
    let answer = revoke(&kernel, &token, "ask").await;
    answer.refused_with_more(400, "input_invalid", "input_schema_invalid");
    let waiting = kernel.owner_get("/v1/owner/calls").await.json();
    assert_eq!(waiting["calls"], json!([]));
}

#[tokio::test]
async fn what_could_not_be_in_force_is_told_to_those_who_approve_and_changes_nothing() {
    let kernel = Here::start(home()).await;
    let token = task(&kernel).await.token;
    let pack = std::fs::read_to_string(kernel.home.path().join(PACK)).unwrap();
    let workflow = "id: other\nschema_version: 1\nlifecycle_state: active\npurpose: Other.\nrequired_agent: nobody\nrequired_capability_pack: ask\n";
    let policy =
        "id: global\nschema_version: 1\nlifecycle_state: active\ndenied_claims: [no.such]\n";
    let cases = [
        (
            "pack",
            pack.replace(STATUS, "openspine.status.raed"),
            "is listed and does not exist",
        ),
        (
            "workflow",
            workflow.to_owned(),
            "artifact workflows/other v1:5:17: field `required_agent`: there is no agent `nobody`",
        ),
        ("policy", policy.to_owned(), "claim `no.such`"),
    ];
    for (kind, manifest, told) in cases {
        // The worker hears no more than of one that could be: its faults tell which ids exist.
        let id = held(&propose(&kernel, &token, kind, &manifest).await);
        let problem = shown(&kernel, &id).await["change"]["problem"].to_string();
        assert!(problem.contains(told), "{told} is not in {problem}");
        let answer = decide(&kernel, &id, "approve").await;
        assert_eq!(answer.at("/state"), "failed", "{answer:?}");
        let state = kernel.state(&token, &id).await;
        assert_eq!(state.at("/reason"), "operation_failed");
        assert!(!state.text().contains("exist"), "{state:?}");
    }
    assert_eq!(versions(&kernel).await, []);
}

#[tokio::test]
async fn a_route_of_the_workers_own_is_told_with_whom_it_lets_in_and_what_it_gives() {
    let kernel = Here::start(home()).await;
    let token = task(&kernel).await.token;
    let route = "id: back_door\nschema_version: 1\nlifecycle_state: active\npriority: 9\nwhen:\n  event_type: ask\nagent: ask\nworkflow: ask\ncapability_pack: ask\n";
    let id = held(&propose(&kernel, &token, "route", route).await);
    let change = shown(&kernel, &id).await["change"].clone();
    assert_eq!(change["from"], Value::Null);
    let told = &change["routes"]["route back_door"];
    assert_eq!(
        told[0],
        "route `back_door`: is in force, and was not: it lets in events of type ask, with priority 9: widens"
    );
    let told = told.to_string();
    assert!(
        told.contains("`openspine.status.read`: is shown, and was not: widens"),
        "{told}"
    );
    assert!(
        told.contains(
            "`artifact.propose`: is shown, and was not, and requires owner approval: widens"
        ),
        "{told}"
    );
    let answer = decide(&kernel, &id, "reject").await;
    assert_eq!(answer.at("/state"), "rejected");
    assert_eq!(versions(&kernel).await, []);
}

#[tokio::test]
async fn a_revoked_version_gives_way_to_the_one_before_and_the_first_to_the_file() {
    let kernel = Here::start(home()).await;
    let token = task(&kernel).await.token;
    let with_reply = pack_with(&kernel.home, REPLY);
    let id = held(&propose(&kernel, &token, "pack", &with_reply).await);
    approved(&kernel, &id).await;
    // Less than the first version: taking it back widens.
    let denying = with_reply.replace(
        "denied_actions: []",
        &format!("denied_actions: [{REPLY:?}]"),
    );
    assert_ne!(denying, with_reply);
    let id = held(&propose(&kernel, &token, "pack", &denying).await);
    let change = shown(&kernel, &id).await["change"].clone();
    assert_eq!(change["from"], "artifact packs/ask v1");
    assert_eq!(change["summary"], "1 change: 1 narrows");
    approved(&kernel, &id).await;
    assert_eq!(tools_now(&kernel).await, ["openspine-status-read"]);

    let id = held(&revoke(&kernel, &token, "ask").await);
    let change = shown(&kernel, &id).await["change"].clone();
    assert_eq!(
        (&change["from"], &change["to"], &change["summary"]),
        (
            &json!("artifact packs/ask v2"),
            &json!("artifact packs/ask v1"),
            &json!("1 change: 1 widens")
        )
    );
    approved(&kernel, &id).await;
    assert_eq!(tools_now(&kernel).await.len(), 2);

    let id = held(&revoke(&kernel, &token, "ask").await);
    assert_eq!(
        shown(&kernel, &id).await["change"]["to"],
        "file packs/ask.yaml"
    );
    approved(&kernel, &id).await;
    assert_eq!(tools_now(&kernel).await, ["openspine-status-read"]);
    let named = |version, state: &str| ("packs/ask".to_owned(), version, state.to_owned());
    assert_eq!(
        versions(&kernel).await,
        [named(1, "revoked"), named(2, "revoked")]
    );

    // A version's number is not given twice.
    let id = held(&propose(&kernel, &token, "pack", &with_reply).await);
    assert_eq!(
        shown(&kernel, &id).await["change"]["to"],
        "artifact packs/ask v3"
    );
    let kernel = Here::start(kernel.stopped().await).await;
    assert_eq!(tools_now(&kernel).await, ["openspine-status-read"]);
}

#[tokio::test]
async fn of_two_changes_that_were_shown_beside_the_same_set_one_is_made_and_the_other_is_renewed() {
    let kernel = Here::start(home()).await;
    let token = task(&kernel).await.token;
    let with_reply = pack_with(&kernel.home, REPLY);
    let agent =
        std::fs::read_to_string(kernel.home.path().join("manifests/agents/ask.yaml")).unwrap();
    let polite = agent.replace("persona: plain", "persona: polite");
    let one = held(&propose(&kernel, &token, "pack", &with_reply).await);
    let two = held(&propose(&kernel, &token, "agent", &polite).await);
    let (first, second) = tokio::join!(
        decide(&kernel, &one, "approve"),
        decide(&kernel, &two, "approve")
    );
    let states = [first.at("/state"), second.at("/state")];
    assert_eq!(
        states.iter().filter(|state| *state == "succeeded").count(),
        1,
        "{states:?}"
    );
    assert_eq!(versions(&kernel).await.len(), 1);

    // What waits beside a set that is no longer in force says so, and is renewed.
    let denying = with_reply.replace(
        "denied_actions: []",
        &format!("denied_actions: [{REPLY:?}]"),
    );
    let three = held(&propose(&kernel, &token, "pack", &denying).await);
    let persona = agent.replace("persona: plain", "persona: brief");
    let four = held(&propose(&kernel, &token, "agent", &persona).await);
    approved(&kernel, &three).await;
    let problem = shown(&kernel, &four).await["change"]["problem"].clone();
    assert!(problem.as_str().unwrap().contains("renew"), "{problem}");
    let renewed = decide(&kernel, &four, "renew").await;
    assert_eq!(renewed.status, 201, "{renewed:?}");
    approved(&kernel, &renewed.at("/call")).await;
    assert_eq!(shown(&kernel, &four).await["state"], "rejected");
}

#[tokio::test]
async fn what_was_approved_before_a_crash_is_put_in_force_at_the_next_start_once() {
    let kernel = Here::start(home()).await;
    let token = task(&kernel).await.token;
    let manifest = pack_with(&kernel.home, REPLY);
    let id = held(&propose(&kernel, &token, "pack", &manifest).await);
    let binding = shown(&kernel, &id).await["binding"]
        .as_str()
        .unwrap()
        .to_owned();
    let stopped = kernel.stopped().await;
    // As after a crash between the approval and the beginning.
    let file = SqliteConnectOptions::new().filename(stopped.data().join("actum.db"));
    let mut store = SqliteConnection::connect_with(&file).await.unwrap();
    let approved = format!(
        "INSERT INTO decisions (call_id, approver, decision, binding, at)
         VALUES ('{id}', 'owner', 'approved', '{binding}', '2026-09-22T08:00:00Z');
         UPDATE calls SET state = 'approved'"
    );
    sqlx::raw_sql(AssertSqlSafe(approved))
        .execute(&mut store)
        .await
        .unwrap();
    store.close().await.unwrap();
    let kernel = Here::start(stopped).await;
    for _ in 0..2_000 {
        if shown(&kernel, &id).await["state"] == "succeeded" {
            break;
        }
    }
    assert_eq!(shown(&kernel, &id).await["state"], "succeeded");
    assert_eq!(tools_now(&kernel).await.len(), 2);
    assert_eq!(versions(&kernel).await.len(), 1);

    // Cut off after it was made and before that was stored, it is not made again: a person finds out.
    let stopped = kernel.stopped().await;
    let mut store = SqliteConnection::connect_with(&file).await.unwrap();
    let cut_off = "UPDATE calls SET state = 'running', result = NULL";
    let done = sqlx::raw_sql(cut_off).execute(&mut store).await.unwrap();
    assert_eq!(done.rows_affected(), 1);
    store.close().await.unwrap();
    let kernel = Here::start(stopped).await;
    for _ in 0..2_000 {
        if shown(&kernel, &id).await["state"] != "running" {
            break;
        }
    }
    let call = shown(&kernel, &id).await;
    assert_eq!(call["state"], "outcome_unknown");
    assert_eq!(call["reason"], "approval_digest_mismatch");
    assert_eq!(versions(&kernel).await.len(), 1);
}

#[tokio::test]
async fn an_artifact_that_does_not_fit_the_files_any_more_is_named_by_its_place() {
    let kernel = Here::start(home()).await;
    let token = task(&kernel).await.token;
    let route = "id: side_door\nschema_version: 1\nlifecycle_state: active\nwhen:\n  event_type: other\nagent: ask\nworkflow: ask\ncapability_pack: ask\n";
    let id = held(&propose(&kernel, &token, "route", route).await);
    approved(&kernel, &id).await;
    for file in ["agents", "packs", "workflows", "routes"] {
        let path = kernel
            .home
            .path()
            .join(format!("manifests/{file}/ask.yaml"));
        std::fs::remove_file(path).unwrap();
    }
    let answer = kernel
        .owner_post("/v1/owner/manifests/reload", &json!({}))
        .await;
    answer.refused_with_more(422, "input_invalid", "manifests_faulty");
    let told = answer.at("/error/message");
    let place = "artifact routes/side_door v1:6:8: field `agent`: there is no agent `ask`";
    assert!(told.contains(place), "{told}");
    assert_eq!(
        tools_now(&kernel).await,
        ["openspine-status-read"],
        "those of before"
    );
    let stopped = kernel.stopped().await;
    let faults = Kernel::builder(stopped.config()).build().await.unwrap_err();
    assert!(faults.to_string().contains(place), "{faults}");
}

#[tokio::test]
async fn what_is_nominated_is_listed_until_the_file_is_the_same() {
    let kernel = Program::start(home());
    let token = task(&kernel).await.token;
    let manifest = pack_with(&kernel.home, REPLY);
    let ask = json!({"kind": "pack", "id": "ask", "reason": "It has proved itself."});
    let answer = kernel.ask(&token, NOMINATE, ask.clone()).await;
    assert_eq!(answer.status, 422, "there is none yet: {answer:?}");
    let id = held(&propose(&kernel, &token, "pack", &manifest).await);
    let (done, said) = kernel.command(&["approvals", "show", &id]);
    assert!(done, "{said}");
    for part in [
        "change    file packs/ask.yaml -> artifact packs/ask v1",
        "for route ask",
        "    `terminal.reply:owner_device`: is shown, and was not: widens",
        "in all    1 change: 1 widens",
    ] {
        assert!(said.contains(part), "{part} is not in\n{said}");
    }
    approved(&kernel, &id).await;
    let answer = kernel.ask(&token, NOMINATE, ask).await;
    assert_eq!(
        answer.json()["result"]["artifact"],
        "artifact packs/ask v1",
        "{answer:?}"
    );
    let (_, said) = kernel.command(&["artifacts"]);
    assert!(said.contains("packs/ask  v1  active"), "{said}");
    let note = "to be taken over (It has proved itself.): `actum artifacts show packs/ask` prints the text for packs/ask.yaml";
    assert!(said.contains(note), "{said}");

    let (_, text) = kernel.command(&["artifacts", "show", "packs/ask"]);
    assert_eq!(text, manifest);
    let (_, lines) = kernel.command(&["artifacts", "diff", "packs/ask"]);
    assert!(
        lines.contains("--- packs/ask.yaml\n+++ artifact packs/ask v1"),
        "{lines}"
    );
    kernel.home.write(PACK, &text);
    assert!(kernel.command(&["reload"]).0);
    let (_, said) = kernel.command(&["artifacts"]);
    assert!(
        said.contains("not needed any more: packs/ask.yaml has the very text"),
        "{said}"
    );

    let id = held(&revoke(&kernel, &token, "ask").await);
    assert_eq!(shown(&kernel, &id).await["change"]["routes"], json!({}));
    approved(&kernel, &id).await;
    assert_eq!(tools_now(&kernel).await.len(), 2);
}

const EXPORT: &str = "openspine.overlay.export";
const RESTORE: &str = "openspine.overlay.restore";

/// A home whose tasks may export and restore as well, and one whose tasks may not propose.
fn home_with_overlay(approval: &[&str]) -> Home {
    let ask = Authority {
        name: "ask",
        allowed: &[STATUS, EXPORT, RESTORE],
        approval,
        channels: &["terminal.owner.reply"],
        seconds: 3_600,
        ..Authority::default()
    };
    with_room(Home::desk("chat", &[ask], ""))
}

#[tokio::test]
async fn an_archive_is_verified_without_the_kernel_and_restored_as_proposals() {
    let kernel = Program::start(home_with_overlay(&[PROPOSE, REVOKE]));
    let token = task(&kernel).await.token;
    let manifest = pack_with(&kernel.home, REPLY);
    let agent = kernel.home.path().join("manifests/agents/ask.yaml");
    let polite = std::fs::read_to_string(agent)
        .unwrap()
        .replace("persona: plain", "persona: polite");
    for (kind, text) in [("pack", &manifest), ("agent", &polite)] {
        let id = held(&propose(&kernel, &token, kind, text).await);
        approved(&kernel, &id).await;
    }
    let exported = kernel.ask(&token, EXPORT, json!({})).await.json()["result"].clone();
    assert_eq!(
        exported["artifacts"].as_array().unwrap().len(),
        2,
        "{exported}"
    );
    kernel.home.write("overlay.json", &exported.to_string());
    let file = kernel
        .home
        .path()
        .join("overlay.json")
        .display()
        .to_string();
    let (done, said) = kernel.command(&["artifacts", "verify", &file]);
    assert!(
        done && said.starts_with("2 artifacts, root sha256:"),
        "{said}"
    );

    // Whatever is changed in it is told, by the file and by the kernel.
    let changes = [
        ("/artifacts/0/text", "polite", "rude"),
        ("/artifacts/1/digest", "sha256:", "sha256:0"),
        ("/root", "sha256:", "sha256:0"),
        ("/signature", "actum.overlay/1", "actum.overlay/2"),
    ];
    for (at, from, to) in changes {
        let mut changed = exported.clone();
        let place = changed.pointer_mut(at).unwrap();
        let text = place.as_str().unwrap().replacen(from, to, 1);
        *place = json!(
            text.chars()
                .take(place.as_str().unwrap().len())
                .collect::<String>()
        );
        assert_ne!(changed, exported, "{at}");
        kernel.home.write("overlay.json", &changed.to_string());
        assert!(!kernel.command(&["artifacts", "verify", &file]).0, "{at}");
        let answer = kernel
            .ask(&token, RESTORE, json!({"archive": changed}))
            .await;
        answer.refused_with_more(400, "input_invalid", "input_schema_invalid");
    }

    // What is in force is not proposed again; what is not waits, and nothing else happens.
    let id = held(&revoke(&kernel, &token, "ask").await);
    approved(&kernel, &id).await;
    assert_eq!(
        tools_without_overlay(&kernel).await,
        ["openspine-status-read"]
    );
    let answer = kernel
        .ask(&token, RESTORE, json!({"archive": exported}))
        .await;
    let result = answer.json()["result"].clone();
    assert_eq!(result["unchanged"], json!(["agents/ask"]), "{answer:?}");
    assert_eq!(result["waiting"][0]["manifest"], "packs/ask");
    assert_eq!(
        tools_without_overlay(&kernel).await,
        ["openspine-status-read"]
    );
    let id = result["waiting"][0]["request_id"].as_str().unwrap();
    assert_eq!(
        shown(&kernel, id).await["change"]["to"],
        "artifact packs/ask v2"
    );
    approved(&kernel, id).await;
    assert_eq!(tools_without_overlay(&kernel).await.len(), 2);
}

async fn tools_without_overlay(kernel: &Client) -> Vec<String> {
    let mut tools = tools_now(kernel).await;
    tools.retain(|name| !name.starts_with("openspine-overlay-"));
    tools
}

#[tokio::test]
async fn who_may_not_propose_restores_nothing() {
    let kernel = Here::start(home_with_overlay(&[])).await;
    let token = task(&kernel).await.token;
    let text = pack_with(&kernel.home, REPLY);
    let digest = |text: &str| json!(actum::Digest::of_bytes(text.as_bytes()));
    let kept =
        json!([{"kind": "pack", "id": "ask", "version": 1, "text": text, "digest": digest(&text)}]);
    let root = actum::Digest::of_json(&kept).unwrap();
    let archive = json!({"format": "actum.overlay/1", "artifacts": kept, "root": root});
    let answer = kernel
        .ask(&token, RESTORE, json!({"archive": archive}))
        .await;
    let told = json!(["packs/ask: it may not be proposed in this task"]);
    assert_eq!(answer.json()["result"]["refused"], told, "{answer:?}");
    let waiting = kernel.owner_get("/v1/owner/calls").await.json();
    assert_eq!(waiting["calls"], json!([]));
}

#[tokio::test]
async fn nobody_but_the_owner_is_told_of_artifacts() {
    let kernel = Here::start(home()).await;
    let worker = task(&kernel).await.token;
    for key in [worker, kernel.connector_key("desk")] {
        for path in ["/v1/owner/artifacts", "/v1/owner/artifacts/packs/ask"] {
            let answer = kernel.get(path, Some(&key)).await;
            answer.refused(401, "unauthenticated", "token_invalid");
        }
    }
    let answer = kernel.owner_get("/v1/owner/artifacts/packs/none").await;
    answer.refused(404, "input_invalid", "unknown_artifact");
}
