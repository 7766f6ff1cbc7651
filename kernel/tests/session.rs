//! `actum session`: what a task could see, and whether what is stored of it agrees.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod process;
mod stored_task;

use actum_kernel::ledger::Kind;
use jiff::{Timestamp, ToSpan};
use process::{Ended, Home};
use serde_json::{Value, json};
use sqlx::Connection as _;
use stored_task::{BURN, FILE, THEN, ToStore, catalog, id, store, task, write_mandate};

async fn session(home: &Home, task: &str, more: &[&str]) -> Ended {
    let arguments = ["session", "--config", "actum.yaml", task];
    home.actum(&[&arguments, more].concat()).await
}

async fn session_json(home: &Home, task: &str) -> Value {
    let ended = session(home, task, &["--json"]).await;
    assert_eq!((ended.code, ended.err.as_str()), (0, ""), "{ended:?}");
    serde_json::from_str(&ended.out).unwrap()
}

/// The task of a token.
fn task_of(token: &str) -> String {
    token.split('_').nth(2).unwrap().to_owned()
}

async fn sql(home: &Home, text: &'static str) {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(home.data().join("actum.db"));
    let mut store = sqlx::SqliteConnection::connect_with(&options)
        .await
        .unwrap();
    let changed = sqlx::raw_sql(text).execute(&mut store).await.unwrap();
    assert!(changed.rows_affected() > 0, "{text} changes nothing");
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_session_has_the_very_tools_of_the_worker_and_its_calls() {
    let home = Home::sample();
    let serving = home.serve().await;
    let token = serving.task(&home, "signed_in_chat", "owner").await;
    for action in [
        "openspine.status.read",
        "workflow.activate",
        "no \u{202e}such",
    ] {
        let call = json!({"action": action});
        serving.call(&token, &call).await.unwrap();
    }
    let request = serving.client.get(format!("{}/v1/task", serving.url));
    let answer = request.bearer_auth(&token).send().await.unwrap();
    let answer = answer.text().await.unwrap();
    let (_, tools) = answer.split_once("\"tools\":").unwrap();
    let tools = tools.strip_suffix("}}").unwrap();
    assert!(tools.starts_with("[{") && tools.ends_with("}]"), "{tools}");

    let task = task_of(&token);
    let beside = session(&home, &task, &["--json"]).await;
    assert_eq!((beside.code, beside.err.as_str()), (0, ""), "{beside:?}");
    assert!(beside.out.contains(tools), "{}\n{tools}", beside.out);
    let told: Value = serde_json::from_str(&beside.out).unwrap();
    let view: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(told["catalog"]["digest"], view["catalog"]["digest"]);
    assert_eq!(told["catalog"]["is_the_one_of_now"], true);
    assert_eq!(told["records"]["agree"], true);
    assert_eq!(told["calls"].as_array().unwrap().len(), 1);
    let call = &told["calls"][0];
    assert_eq!(
        (
            &call["action"],
            &call["state"],
            &call["authorization"]["outcome"]
        ),
        (
            &json!("openspine.status.read"),
            &json!("succeeded"),
            &json!("allowed")
        )
    );
    let refused = told["refused"].as_array().unwrap();
    let reasons = refused
        .iter()
        .map(|it| it["authorization"]["reason"].as_str().unwrap());
    assert_eq!(
        reasons.collect::<Vec<_>>(),
        ["not_granted", "unknown_action"]
    );
    let exposures = told["exposures"]["records"].as_array().unwrap();
    let absent = exposures
        .iter()
        .find(|it| it["operation_id"] == "workflow.activate");
    assert_eq!(absent.unwrap()["reason"], "not_granted");

    // The same without a kernel, but for what the kernel recorded since.
    assert_eq!(serving.terminate().await, 0);
    let mut without = session_json(&home, &task).await;
    assert_eq!(
        without["records"]["ledger_ends"].as_i64().unwrap(),
        told["records"]["ledger_ends"].as_i64().unwrap() + 1
    );
    without["records"]["ledger_ends"] = told["records"]["ledger_ends"].clone();
    assert_eq!(without, told);

    let text = session(&home, &task, &[]).await;
    for wanted in [
        "telegram-reply--owner_channel (requires owner approval)",
        "openspine.status.read: succeeded, listed",
        "no such: refused, unknown_action",
        "  workflow.activate: not_granted",
        "records    agree: ",
    ] {
        assert!(text.out.contains(wanted), "{wanted:?} in\n{}", text.out);
    }
    assert!(!text.out.contains('\u{202e}'), "{}", text.out);
}

#[tokio::test]
async fn a_task_that_is_over_is_told_as_any_other() {
    let home = Home::sample();
    let serving = home.serve().await;
    let token = serving.task(&home, "public_chat", "stranger").await;
    let config = home.client_config(&serving);
    let revoked = home
        .actum(&["revoke", "--config", &config, &task_of(&token)])
        .await;
    assert_eq!(revoked.code, 0, "{revoked:?}");
    let told = session_json(&home, &task_of(&token)).await;
    assert!(told["task"]["revoked_at"].is_string(), "{told}");
    assert_eq!(told["catalog"]["tools"].as_array().unwrap().len(), 2);
    assert_eq!(serving.terminate().await, 0);

    let mut expired = task();
    expired.grant.expires_at = Timestamp::now() - 1.second();
    let expired = store(&home, expired).await;
    let told = session(&home, &expired, &[]).await;
    assert_eq!((told.code, told.err.as_str()), (0, ""));
    assert!(told.out.contains(", over\n"), "{}", told.out);
}

#[tokio::test]
async fn after_the_catalog_moved_on_the_tools_are_those_of_then() {
    let home = Home::sample();
    write_mandate(&home);
    let stored = store(&home, task()).await;
    let told = session_json(&home, &stored).await;
    assert_eq!(told["catalog"]["is_the_one_of_now"], false);
    let tools = told["catalog"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["mail-file", "terminal-reply--owner_device"]);
    assert!(tools.iter().all(|tool| tool["description"] == THEN));
    assert_eq!(told["task"]["left"], json!({"lost": [], "over": false}));

    let text = session(&home, &stored, &[]).await.out;
    for wanted in [
        "another than now",
        "mail-file, nothing describes it now",
        "terminal-reply--owner_device, described otherwise now",
        "mail.burn: required_claim_missing, missing mail.burn",
        "actor ann, scenario triage, mode day; roles: none; claims: mail.file",
        "message    Sort my mail.",
        "another revision by now",
    ] {
        assert!(text.contains(wanted), "{wanted:?} in\n{text}");
    }
}

#[tokio::test]
async fn what_its_actor_lost_since_is_told() {
    let home = Home::sample();
    write_mandate(&home);
    let stored = store(&home, task()).await;
    home.edit("manifests/actors/ann.yaml", "claims:\n  - mail.file\n", "");
    let text = session(&home, &stored, &[]).await.out;
    assert!(
        text.contains("issued with claim `mail.file`, holds no longer"),
        "{text}"
    );
    assert!(text.contains("  mail-file"), "it was shown then:\n{text}");
    home.edit("manifests/actors/ann.yaml", ": active", ": retired");
    let text = session(&home, &stored, &[]).await.out;
    assert!(text.contains("so that the task is over"), "{text}");
}

/// That a store which was changed is told, and that it was in order before.
async fn assert_told(change: &'static str, wanted: &str) {
    let home = Home::sample();
    write_mandate(&home);
    let stored = store(&home, task()).await;
    assert_eq!(session(&home, &stored, &[]).await.code, 0);
    sql(&home, change).await;
    for more in [&[][..], &["--json"]] {
        let ended = session(&home, &stored, more).await;
        assert_eq!(ended.code, 1, "{change}: {ended:?}");
        assert!(ended.err.contains(wanted), "{wanted:?}:\n{}", ended.err);
        if let (true, Ok(told)) = (!more.is_empty(), serde_json::from_str::<Value>(&ended.out)) {
            assert_eq!(told["records"]["agree"], false, "{change}");
        }
    }
}

#[tokio::test]
async fn exposures_that_were_changed_are_told() {
    assert_told(
        "UPDATE exposures SET body = replace(body, 'required_claim_missing', 'not_granted')",
        "the stored exposures were changed: record 1 names sha256:",
    )
    .await;
    assert_told("DELETE FROM exposures", "which are not in the store").await;
}

#[tokio::test]
async fn a_ledger_that_was_changed_is_told_with_the_place() {
    assert_told(
        "DROP TRIGGER audit_keeps_records; UPDATE audit SET body = replace(body, 'policy', 'police') WHERE seq = 1",
        "the ledger does not hold: record 1 was changed",
    )
    .await;
    assert_told(
        "DROP TRIGGER audit_keeps_records; UPDATE audit SET at = '2026-01-01T00:00:00Z' WHERE seq = 2",
        "record 2 was changed after it was written; it holds up to the grant's record 1",
    )
    .await;
    assert_told(
        "DROP TRIGGER audit_loses_nothing; DELETE FROM audit WHERE seq = 1",
        "the ledger has no record, as far as it holds, that this task was issued",
    )
    .await;
}

#[tokio::test]
async fn a_grant_or_a_catalog_that_was_changed_is_told() {
    assert_told(
        "UPDATE tasks SET grant_body = replace(grant_body, 'mail.file', 'mail.burn')",
        "the grant's seal does not fit its content",
    )
    .await;
    assert_told(
        "UPDATE catalogs SET body = replace(body, 'one did then', 'one does now')",
        "its stored catalog was changed: it is named sha256:",
    )
    .await;
    assert_told("DELETE FROM catalogs", "is not in the store any more").await;
}

#[tokio::test]
async fn a_task_whose_end_was_changed_is_told() {
    assert_told(
        "UPDATE tasks SET revoked_at = '2026-01-01T00:00:00Z'",
        "was taken back at 2026-01-01T00:00:00Z, and the ledger has no record of it",
    )
    .await;
    assert_told(
        "UPDATE tasks SET expires_at = '2036-01-01T00:00:00Z'",
        "the task is over at 2036-01-01T00:00:00Z, and its grant at",
    )
    .await;
}

#[tokio::test]
async fn calls_that_were_put_in_removed_or_changed_are_told() {
    let home = Home::sample();
    let serving = home.serve().await;
    let token = serving.task(&home, "signed_in_chat", "owner").await;
    let call = json!({"action": "openspine.status.read"});
    serving.call(&token, &call).await.unwrap();
    // Cut off, so that what was written last is in the journal alone.
    serving.signal_kill();
    serving.gone().await;
    let task = task_of(&token);
    session_json(&home, &task).await;
    let told = async |change: &'static str, wanted: &str| {
        sql(&home, change).await;
        let ended = session(&home, &task, &[]).await;
        assert_eq!(ended.code, 1, "{ended:?}");
        assert!(ended.err.contains(wanted), "{wanted:?}:\n{}", ended.err);
    };
    told(
        "UPDATE calls SET action = 'workflow.activate'",
        "is of `workflow.activate` in the store, and of `openspine.status.read` in the ledger",
    )
    .await;
    told(
        "UPDATE calls SET id = '01J00000000000000000000000'",
        "call 01J00000000000000000000000 of `workflow.activate` is stored, and the ledger has no record of it",
    )
    .await;
    told(
        "DELETE FROM calls",
        "of `openspine.status.read`, and the store does not",
    )
    .await;
}

async fn assert_stored_wrong(wrong: ToStore, wanted: &str) {
    let home = Home::sample();
    let stored = store(&home, wrong).await;
    let ended = session(&home, &stored, &[]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.err.contains(wanted), "{wanted:?}:\n{}", ended.err);
}

#[tokio::test]
async fn records_that_are_consistent_and_false_are_told() {
    // Whoever can write all of it still cannot make another view of the same grant and catalog.
    let mut false_exposures = task();
    false_exposures.exposures = Some(json!({"records": [], "left_out": 0}).to_string());
    assert_stored_wrong(
        false_exposures,
        &format!("of `{BURN}` the record says `nothing`, and now it is `required_claim_missing`"),
    )
    .await;
    for field in ["grant", "catalog", "policy"] {
        let mut other = task();
        other.body = json!({field: actum::Digest::of_bytes(b"another")});
        assert_stored_wrong(other, &format!("record 1 names the {field} sha256:")).await;
    }
    let mut unrecorded = task();
    unrecorded.kind = Kind::EventRefused;
    assert_stored_wrong(unrecorded, "has no record").await;
}

#[tokio::test]
async fn a_task_of_an_earlier_version_is_told_with_what_there_is() {
    let home = Home::sample();
    write_mandate(&home);
    let mut old = task();
    old.grant.mandate = None;
    old.grant.authority_sources.truncate(5);
    let mut stored: Value = serde_json::from_str(&old.catalog).unwrap();
    for entry in stored.as_object_mut().unwrap().values_mut() {
        entry.as_object_mut().unwrap().remove("requirements");
    }
    old.catalog = stored.to_string();
    old.grant.catalog_digest = actum::Digest::of_bytes(old.catalog.as_bytes());
    old.body = json!({"exposures": null});
    let stored = store(&home, old).await;
    let told = session_json(&home, &stored).await;
    assert_eq!(told["records"]["agree"], true);
    let notes = told["records"]["notes"].to_string();
    assert!(notes.contains("kept no exposures"), "{notes}");
    let tools = told["catalog"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 2, "nothing was required then: {tools:?}");
}

#[tokio::test]
async fn what_is_not_there_is_said_with_what_to_do() {
    let home = Home::sample();
    let none = "01J00000000000000000000000";
    let told = async |task: &str, wanted: &[&str]| {
        let ended = session(&home, task, &[]).await;
        assert_eq!((ended.code, ended.out.as_str()), (1, ""), "{ended:?}");
        for wanted in wanted {
            assert!(ended.err.contains(wanted), "{wanted:?}:\n{}", ended.err);
        }
    };
    told(none, &["actum.db", "no store here"]).await;
    assert!(!home.data().exists(), "it makes nothing");
    let stored = store(&home, task()).await;
    told(none, &["there is no task", &stored]).await;
    told("nonsense", &["`nonsense` is no task's id"]).await;
    let key = home.data().join("keys/seal.key");
    std::fs::rename(&key, home.path("elsewhere")).unwrap();
    told(&stored, &["seal.key", "cannot be read"]).await;
    assert!(!key.exists(), "it makes none");
    let other = home.key("owner");
    home.write("data/keys/seal.key", &other);
    told(&stored, &["seal does not fit", "is not the key of then"]).await;
    assert!(catalog().is_known(id(FILE).as_str()));
}
