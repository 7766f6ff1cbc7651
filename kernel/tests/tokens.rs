//! Task tokens: what works, what does not, and that all that does not looks the same.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use std::time::Duration;

use reqwest::header::AUTHORIZATION;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use support::answer::Answer;
use support::client::{Client, Task};
use support::home::{Authority, Home};
use support::kernel::{Here, Program};

const TERMINAL: &str = "terminal.reply:owner_device";
const STATUS: &str = "openspine.status.read";

/// A desk whose tasks live a minute and may read the status and write to the owner.
fn home() -> Home {
    Home::desk(
        "webchat",
        &[Authority {
            name: "ask",
            allowed: &[STATUS, TERMINAL],
            channels: &["terminal.owner.reply"],
            seconds: 60,
            ..Authority::default()
        }],
        "",
    )
}

async fn begin(kernel: &Client) -> Task {
    let event = json!({"event_type": "ask", "channel_account": "desk"});
    kernel.begin("desk", &event).await
}

/// Every worker's door, tried with an `Authorization` header of these values.
async fn tried(kernel: &Client, headers: &[&str]) -> Vec<Answer> {
    let mut answers = Vec::new();
    let (http, url) = (&kernel.http, &kernel.url);
    let call = json!({"action": STATUS}).to_string();
    for request in [
        http.get(format!("{url}/v1/task")),
        http.post(format!("{url}/v1/actions")).body(call),
        http.post(format!("{url}/v1/actions")).body("{ broken"),
        http.get(format!("{url}/v1/actions/01ARZ3NDEKTSV4RRFFQ69G5FAV")),
    ] {
        let request = headers.iter().fold(request, |request, value| {
            request.header(AUTHORIZATION, *value)
        });
        answers.push(kernel.send(request).await);
    }
    answers
}

#[tokio::test]
async fn every_token_that_does_not_work_gets_one_and_the_same_answer() {
    let kernel = Here::start(home()).await;
    let other_kernel = Here::start(home()).await;
    let expired = begin(&kernel).await;
    kernel.pass(60);
    let (task, other, revoked) = (
        begin(&kernel).await,
        begin(&kernel).await,
        begin(&kernel).await,
    );
    let foreign = begin(&other_kernel).await;
    let path = format!("/v1/owner/tasks/{}/revoke", revoked.id);
    assert_eq!(kernel.owner_post(&path, &json!({})).await.status, 200);

    let missing = tried(&kernel, &[]).await;
    missing[0].refused(401, "unauthenticated", "token_invalid");
    assert_eq!(missing[0].headers["www-authenticate"], [b"Bearer"]);
    assert!(
        missing.iter().all(|answer| *answer == missing[0]),
        "{missing:?}"
    );

    let right = task.token.as_str();
    let secret = right.rsplit('_').next().unwrap();
    let bearer = |token: &str| format!("Bearer {token}");
    for (why, value) in [
        ("expired", bearer(&expired.token)),
        ("revoked", bearer(&revoked.token)),
        ("of another kernel", bearer(&foreign.token)),
        (
            "of no task",
            bearer(&format!("actum_task_01ARZ3NDEKTSV4RRFFQ69G5FAV_{secret}")),
        ),
        (
            "of another task",
            bearer(&format!("actum_task_{}_{secret}", other.id)),
        ),
        (
            "wrong secret",
            bearer(&format!("actum_task_{}_{}", task.id, "0".repeat(64))),
        ),
        ("one digit less", bearer(&right[..right.len() - 1])),
        ("one digit more", bearer(&format!("{right}0"))),
        ("other case", bearer(&right.to_uppercase())),
        (
            "other case",
            bearer(&right.replace(&task.id, &task.id.to_lowercase())),
        ),
        ("secret alone", bearer(secret)),
        ("id alone", bearer(&task.id)),
        ("two spaces", format!("Bearer  {right}")),
        ("two tokens", bearer(&format!("{right},{right}"))),
        ("two tokens", bearer(&format!("{right} {right}"))),
        ("another scheme", format!("Basic {right}")),
        ("no scheme", right.to_owned()),
        ("nothing", "Bearer".to_owned()),
        ("nothing", "Bearer ".to_owned()),
        ("nothing", String::new()),
        ("the owner's key", bearer(&kernel.key("owner"))),
        ("a connector's key", bearer(&kernel.connector_key("desk"))),
        ("the seal's key", bearer(&kernel.key("seal"))),
        ("very long", bearer(&"a".repeat(16_000))),
    ] {
        assert_eq!(tried(&kernel, &[&value]).await, missing, "{why}");
    }
    let twice = [bearer(right), bearer(right)];
    assert_eq!(
        tried(&kernel, &[&twice[0], &twice[1]]).await,
        missing,
        "twice"
    );
    let two = [bearer(&expired.token), bearer(right)];
    assert_eq!(tried(&kernel, &[&two[0], &two[1]]).await, missing, "two");

    // The right one works, in whatever case its scheme is written.
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let answers = tried(&kernel, &[&format!("{scheme} {right}")]).await;
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        assert_eq!(statuses, [200, 200, 400, 404]);
    }
}

#[tokio::test]
async fn the_owners_door_takes_the_owners_key_alone() {
    let kernel = Here::start(home()).await;
    let task = begin(&kernel).await;
    let revoke = format!("/v1/owner/tasks/{}/revoke", task.id);
    for token in [
        None,
        Some(&task.token),
        Some(&kernel.connector_key("desk")),
        Some(&kernel.key("seal")),
    ] {
        let token = token.map(String::as_str);
        for answer in [
            kernel.get("/v1/owner/messages", token).await,
            kernel.get("/v1/owner/threads", token).await,
            kernel.post("/v1/owner/selections", token, "{}").await,
            kernel.post(&revoke, token, "").await,
        ] {
            answer.refused(401, "unauthenticated", "token_invalid");
        }
    }
    assert_eq!(
        kernel.task(&task.token).await.status,
        200,
        "nobody took it back"
    );
}

#[tokio::test]
async fn a_task_is_over_at_the_second_of_its_expiry() {
    let kernel = Here::start(home()).await;
    let task = begin(&kernel).await;
    assert_eq!(task.answer["expires_at"], "2026-09-22T08:01:00Z");
    assert_eq!(
        kernel.task(&task.token).await.at("/expires_at"),
        "2026-09-22T08:01:00Z"
    );
    kernel.pass(59);
    assert_eq!(kernel.task(&task.token).await.status, 200);
    let text = json!({"text": "In time."});
    assert_eq!(
        kernel.ask(&task.token, TERMINAL, text.clone()).await.status,
        200
    );
    kernel.pass(1);
    let answer = kernel.ask(&task.token, TERMINAL, text).await;
    answer.refused(401, "unauthenticated", "token_invalid");
    assert_eq!(kernel.messages().await, ["In time."]);
}

#[tokio::test]
async fn a_task_that_the_owner_takes_back_stops_at_once_and_only_that_one() {
    let kernel = Here::start(home()).await;
    let (task, other) = (begin(&kernel).await, begin(&kernel).await);
    // Both are known and verified by now.
    for task in [&task, &other] {
        assert_eq!(kernel.task(&task.token).await.status, 200);
    }
    let path = format!("/v1/owner/tasks/{}/revoke", task.id);
    let answer = kernel.owner_post(&path, &json!({})).await;
    assert_eq!(
        answer.json(),
        json!({"ok": true, "task_id": task.id, "revoked": true, "tasks": 1})
    );

    let answer = kernel
        .ask(&task.token, TERMINAL, json!({"text": "Still here?"}))
        .await;
    answer.refused(401, "unauthenticated", "token_invalid");
    assert_eq!(kernel.messages().await, [""; 0]);
    assert_eq!(kernel.task(&other.token).await.status, 200);

    for gone in [task.id.as_str(), "01ARZ3NDEKTSV4RRFFQ69G5FAV", "nonsense"] {
        let path = format!("/v1/owner/tasks/{gone}/revoke");
        let answer = kernel.owner_post(&path, &json!({})).await;
        answer.refused(404, "input_invalid", "unknown_task");
    }
    let ledger = kernel.home.ledger().await;
    let revoked: Vec<_> = ledger
        .iter()
        .filter(|(kind, _)| kind == "grant_revoked")
        .collect();
    assert_eq!(revoked.len(), 1);
    assert_eq!(revoked[0].1, json!({"task": task.id, "by": "owner"}));
}

#[tokio::test]
async fn the_command_line_takes_a_task_back() {
    let kernel = Program::start(home());
    let task = begin(&kernel).await;
    assert_eq!(kernel.task(&task.token).await.status, 200);
    let (done, said) = kernel.command(&["revoke", &task.id]);
    assert!(done && said.contains("revoked"), "{said}");
    let answer = kernel.task(&task.token).await;
    answer.refused(401, "unauthenticated", "token_invalid");
    let (again, _) = kernel.command(&["revoke", &task.id]);
    assert!(!again, "there is nothing to take back any more");
}

#[tokio::test]
async fn a_task_cannot_see_the_calls_of_another() {
    let kernel = Here::start(home()).await;
    let (mine, other) = (begin(&kernel).await, begin(&kernel).await);
    let call = kernel
        .ask(&other.token, STATUS, json!({}))
        .await
        .at("/request_id");
    let own = kernel.state(&other.token, &call).await;
    assert_eq!((own.status, own.at("/state").as_str()), (200, "succeeded"));
    assert!(own.json()["result"].is_object());

    let unknown = kernel
        .state(&mine.token, "01ARZ3NDEKTSV4RRFFQ69G5FAV")
        .await;
    unknown.refused(404, "operation_absent", "unknown_request");
    for id in [call.as_str(), "nonsense", "%20", "..%2f..", "%ff"] {
        let answer = kernel.state(&mine.token, id).await;
        assert_eq!(answer, unknown, "{id}");
    }
}

/// The first place of a text or of bytes.
fn found(haystack: &[u8], needle: &[u8]) -> bool {
    haystack
        .windows(needle.len())
        .any(|window| window == needle)
}

#[tokio::test]
async fn tokens_are_kept_as_hashes_and_told_to_nobody_but_their_holder() {
    let kernel = Program::start(home());
    let task = begin(&kernel).await;
    let ran = kernel
        .ask(&task.token, TERMINAL, json!({"text": "Hello"}))
        .await;
    assert_eq!(ran.status, 200, "{ran:?}");
    assert!(!found(&ran.body, task.token.as_bytes()));

    let hex = task.token.rsplit('_').next().unwrap();
    let secret: Vec<u8> = (0..32)
        .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    let hash = Sha256::digest(&secret);
    let traces = kernel.home.traces();
    for (path, bytes) in &traces {
        let path = path.display();
        assert!(!found(bytes, task.token.as_bytes()), "the token in {path}");
        assert!(!found(bytes, hex.as_bytes()), "its secret in {path}");
        assert!(!found(bytes, &secret), "its secret's bytes in {path}");
    }
    // The search finds what is there.
    assert!(
        traces.iter().any(|(_, bytes)| found(bytes, &hash)),
        "its hash"
    );
    assert!(!kernel.log().is_empty());
}

#[tokio::test]
async fn a_task_is_taken_back_or_not_even_if_the_owner_hangs_up() {
    let kernel = Here::start(home()).await;
    let owner = kernel.key("owner");
    let address = kernel.url.strip_prefix("http://").unwrap();
    for _ in 0..20 {
        let task = begin(&kernel).await;
        // The kernel knows the task by now and need not ask its store.
        assert_eq!(kernel.task(&task.token).await.status, 200);
        let request = format!(
            "POST /v1/owner/tasks/{}/revoke HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {owner}\r\n\r\n",
            task.id
        );
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        drop(stream);

        // What the store says and what the token does are soon the same.
        let agreed = async {
            loop {
                let works = kernel.task(&task.token).await.status == 200;
                if works != kernel.home.is_revoked(&task.id).await {
                    break;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(10), agreed)
            .await
            .expect("a task that is taken back goes on working");
    }
}
