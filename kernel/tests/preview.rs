//! Drafts reach the owner exactly as they are, and one that the owner approves becomes a draft of the mailbox, once.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test says where it fails

mod support;

use std::path::PathBuf;

use actum::Digest;
use mail_parser::MessageParser;
use serde_json::{Value, json};

use support::client::Task;
use support::home::Home;
use support::kernel::{Here, Program};

const PREVIEW: &str = "lyra.ui.preview";

fn mail(body: &str) -> Value {
    json!({
        "title": "Answer to the plumber",
        "kind": "mail",
        "to": ["plumber@example.org"],
        "subject": "Tuesday",
        "body": body,
    })
}

/// The owner's chat, where a preview waits for approval.
async fn owner(kernel: &support::client::Client) -> Task {
    let event = json!({
        "event_type": "chat.message", "channel_account": "front-page", "actor_hint": {"handle": "robin"},
    });
    kernel.begin("signed_in_chat", &event).await
}

fn drafts(home: &Home) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home.path().join("drafts/new")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// A call that waits, and the path to it.
async fn waiting(kernel: &Here, id: &str) -> (String, Value) {
    let path = format!("/v1/owner/calls/{id}");
    let answer = kernel.owner_get(&path).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    (path, answer.json()["call"].clone())
}

#[tokio::test]
async fn a_draft_that_is_only_shown_is_stored_with_its_digest_and_leads_to_nothing_else() {
    let kernel = Here::start(Home::sample()).await;
    let task = kernel.select("Dripping").await;
    let content = mail("Come on <b>Tuesday</b>.\u{202e}");
    let answer = kernel.ask(&task.token, PREVIEW, content.clone()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let digest = Digest::of_json(&content).unwrap().to_string();
    assert_eq!(answer.at("/result/digest"), digest);
    assert_eq!(answer.json()["result"]["draft_file"], Value::Null);

    let listed = kernel.owner_get("/v1/owner/previews").await.json();
    let id = answer.at("/result/preview_id");
    assert_eq!(id, answer.at("/request_id"));
    assert_eq!(listed["previews"][0]["id"], id);
    let shown = kernel.owner_get(&format!("/v1/owner/previews/{id}")).await;
    let shown = shown.json()["preview"].clone();
    assert_eq!(shown["draft"], content, "exactly what was shown");
    assert_eq!(shown["digest"], digest);
    let rendered = shown["rendered"].as_str().unwrap();
    assert!(rendered.contains("<b>Tuesday</b>"), "{rendered}");
    assert!(rendered.contains("⟨U+202E⟩") && !rendered.contains('\u{202e}'));
    assert!(drafts(&kernel.home).is_empty());
}

#[tokio::test]
async fn an_approved_mail_draft_is_put_among_the_drafts_once() {
    let kernel = Here::start(Home::sample()).await;
    let task = owner(&kernel).await;
    let answer = kernel
        .ask(&task.token, PREVIEW, mail("Come on Tuesday."))
        .await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let id = answer.at("/request_id");
    let (path, call) = waiting(&kernel, &id).await;
    assert!(
        call["rendered"]
            .as_str()
            .unwrap()
            .contains("To: plumber@example.org")
    );
    assert!(drafts(&kernel.home).is_empty());
    let previews = kernel.owner_get("/v1/owner/previews").await.json();
    assert_eq!(
        previews["previews"],
        json!([]),
        "it waits, and was not shown"
    );

    let body = json!({"binding": call["binding"]});
    let approved = kernel.owner_post(&format!("{path}/approve"), &body).await;
    assert_eq!(approved.at("/state"), "succeeded", "{approved:?}");
    let [draft] = &drafts(&kernel.home)[..] else {
        panic!("{:?}", drafts(&kernel.home))
    };
    assert!(draft.ends_with(approved.at("/result/draft_file")));
    let bytes = std::fs::read(draft).unwrap();
    let written = MessageParser::default().parse(&bytes).unwrap();
    assert_eq!(written.subject(), Some("Tuesday"));
    assert_eq!(written.body_text(0).unwrap().trim_end(), "Come on Tuesday.");

    let again = kernel.owner_post(&format!("{path}/approve"), &body).await;
    assert_eq!(again.status, 409);
    assert_eq!(drafts(&kernel.home).len(), 1);
}

#[tokio::test]
async fn a_rejected_draft_and_a_text_that_is_no_mail_write_nothing() {
    let kernel = Here::start(Home::sample()).await;
    let task = owner(&kernel).await;
    let note = json!({"title": "Note", "kind": "markdown", "body": "# Hello"});
    for (content, verb) in [(mail("No."), "reject"), (note, "approve")] {
        let answer = kernel.ask(&task.token, PREVIEW, content).await;
        let (path, call) = waiting(&kernel, &answer.at("/request_id")).await;
        let body = json!({"binding": call["binding"]});
        let decided = kernel.owner_post(&format!("{path}/{verb}"), &body).await;
        assert_eq!(decided.status, 200, "{decided:?}");
    }
    assert!(drafts(&kernel.home).is_empty());
}

#[tokio::test]
async fn what_is_no_draft_is_refused_before_anybody_is_asked() {
    let kernel = Here::start(Home::sample()).await;
    let task = owner(&kernel).await;
    let bad = json!({
        "title": "T", "kind": "mail", "to": ["Robin <robin@example.org>"],
        "subject": "Hi\r\nBcc: x@example.org", "body": "x",
    });
    let answer = kernel.ask(&task.token, PREVIEW, bad).await;
    answer.refused(400, "input_invalid", "input_schema_invalid");
    let json = answer.json();
    let faults = json["error"]["faults"].as_array().unwrap();
    let places: Vec<_> = faults.iter().map(|fault| &fault["at"]).collect();
    assert_eq!(places, ["/subject", "/to/0"]);
}

#[tokio::test]
async fn previews_are_the_owners_alone() {
    let kernel = Here::start(Home::sample()).await;
    let task = owner(&kernel).await;
    for path in [
        "/v1/owner/previews",
        "/v1/owner/previews/01J0000000000000000000R0BN",
    ] {
        let answer = kernel.get(path, Some(&task.token)).await;
        assert_eq!(answer.status, 401);
    }
    let none = "/v1/owner/previews/01J0000000000000000000R0BN";
    assert_eq!(kernel.owner_get(none).await.status, 404);
}

#[tokio::test]
async fn the_terminal_shows_drafts_and_what_waits() {
    let kernel = Program::start(Home::sample());
    let task = owner(&kernel).await;
    let id = kernel
        .ask(&task.token, PREVIEW, mail("Come\u{202e} soon."))
        .await
        .at("/request_id");
    let (ok, said) = kernel.command(&["attach", "--once"]);
    assert!(ok && said.contains("Come⟨U+202E⟩ soon."), "{said}");
    assert!(!said.contains('\u{202e}'), "{said}");
    let (ok, said) = kernel.command(&["approvals", "approve", &id]);
    assert!(ok && said.contains("approved, and done"), "{said}");
    assert_eq!(drafts(&kernel.home).len(), 1);
    for arguments in [&["previews"][..], &["previews", &id], &["attach", "--once"]] {
        let (ok, said) = kernel.command(arguments);
        assert!(ok && said.contains("Answer to the plumber"), "{said}");
        assert!(said.contains(&id), "{said}");
    }
}
