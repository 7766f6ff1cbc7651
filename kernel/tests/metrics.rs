//! The numbers that an operator's monitoring reads.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use support::client::{Client, Task};
use support::home::Home;
use support::kernel::Here;

const STATUS: &str = "openspine.status.read";
const PREVIEW: &str = "lyra.ui.preview";

async fn numbers(kernel: &Client) -> BTreeMap<String, f64> {
    let answer = kernel.get("/metrics", Some(&kernel.key("metrics"))).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let text = answer.text();
    assert!(text.ends_with("# EOF\n"), "{text}");
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (series, value) = line.rsplit_once(' ').unwrap();
            (series.to_owned(), value.parse().unwrap())
        })
        .collect()
}

fn event() -> Value {
    json!({
        "event_type": "chat.message", "channel_account": "front-page",
        "actor_hint": {"handle": "robin"},
    })
}

async fn owner(kernel: &Client) -> Task {
    kernel.begin("signed_in_chat", &event()).await
}

#[track_caller]
fn is(numbers: &BTreeMap<String, f64>, series: &str, value: f64) {
    let of = |name: &str| numbers.get(name).copied();
    let family = series.split('{').next().unwrap();
    let near: Vec<_> = numbers
        .iter()
        .filter(|(name, _)| name.starts_with(family))
        .collect();
    assert_eq!(of(series), Some(value), "{series} among {near:#?}");
}

#[tokio::test]
async fn numbers_say_what_was_answered_what_ran_and_what_is_stored() {
    let kernel = Here::start(Home::sample()).await;
    let task = owner(&kernel).await;
    let stranger = kernel.begin("public_chat", &event()).await;
    let nobody =
        json!({"event_type": "chat.message", "channel_account": "elsewhere", "connector": "other"});
    assert_eq!(kernel.post_event("public_chat", &nobody).await.status, 403);
    for _ in 0..3 {
        assert_eq!(kernel.ask(&task.token, STATUS, json!({})).await.status, 200);
    }
    assert_eq!(
        kernel.ask(&stranger.token, STATUS, json!({})).await.status,
        404
    );
    let unfit = kernel.ask(&task.token, STATUS, json!({"a": 1})).await;
    assert_eq!(unfit.status, 400);
    let draft = json!({"title": "Answer", "kind": "mail", "to": ["ada@example.com"], "subject": "Pipe", "body": "Tuesday."});
    let mut calls = Vec::new();
    for key in ["one", "two", "three"] {
        let call = json!({"action": PREVIEW, "arguments": draft, "idempotency_key": key});
        let held = kernel.call(&task.token, &call).await;
        assert_eq!(held.status, 202, "{}", held.text());
        calls.push(held.at("/request_id"));
    }
    for (call, decision) in calls.iter().zip(["approve", "reject"]) {
        let shown = kernel.owner_get(&format!("/v1/owner/calls/{call}")).await;
        let seen = json!({"binding": shown.at("/call/binding")});
        let path = format!("/v1/owner/calls/{call}/{decision}");
        let decided = kernel.owner_post(&path, &seen).await;
        assert_eq!(decided.status, 200, "{}", decided.text());
    }

    let numbers = numbers(&kernel).await;
    for (series, value) in [
        (
            r#"actum_calls_total{action="openspine.status.read",answer="done"}"#,
            3.0,
        ),
        (
            r#"actum_calls_total{action="openspine.status.read",answer="operation_absent"}"#,
            1.0,
        ),
        (
            r#"actum_calls_total{action="openspine.status.read",answer="input_invalid"}"#,
            1.0,
        ),
        (
            r#"actum_calls_total{action="lyra.ui.preview",answer="approval_required"}"#,
            3.0,
        ),
        (r#"actum_refusals_total{reason="explicit_deny"}"#, 1.0),
        (
            r#"actum_refusals_total{reason="input_schema_invalid"}"#,
            1.0,
        ),
        (
            r#"actum_handlers_total{action="openspine.status.read",outcome="succeeded"}"#,
            3.0,
        ),
        (
            r#"actum_handlers_total{action="lyra.ui.preview",outcome="succeeded"}"#,
            1.0,
        ),
        (
            r#"actum_handler_duration_seconds_count{action="openspine.status.read"}"#,
            3.0,
        ),
        (
            r#"actum_events_total{connector="public_chat",outcome="grant_issued"}"#,
            1.0,
        ),
        (r#"actum_decisions_total{decision="approved"}"#, 1.0),
        (r#"actum_decisions_total{decision="rejected"}"#, 1.0),
        (
            r#"actum_http_requests_total{method="POST",route="/v1/actions",status="202"}"#,
            3.0,
        ),
        (
            r#"actum_http_requests_total{method="POST",route="/v1/actions",status="404"}"#,
            1.0,
        ),
        (
            r#"actum_http_requests_total{method="POST",route="/v1/events",status="403"}"#,
            1.0,
        ),
        (
            r#"actum_http_request_duration_seconds_count{method="POST",route="/v1/actions"}"#,
            8.0,
        ),
        (r#"actum_stored_calls{state="pending"}"#, 1.0),
        (r#"actum_stored_calls{state="running"}"#, 0.0),
        (r#"actum_stored_calls{state="outcome_unknown"}"#, 0.0),
        ("actum_stored_tasks", 2.0),
        ("actum_http_requests_under_way", 0.0),
        ("actum_store_up", 1.0),
    ] {
        is(&numbers, series, value);
    }
    let home = kernel.stopped().await;
    // The last record is of the stop, which nobody can read the number of.
    let records = home.ledger().await.len();
    is(&numbers, "actum_ledger_records", (records - 1) as f64);
}

#[tokio::test]
async fn a_call_that_nobody_decides_on_is_counted_as_expired_once() {
    let kernel = Here::start(Home::sample()).await;
    let task = owner(&kernel).await;
    let send = json!({"text": "Hello"});
    let held = kernel
        .ask(&task.token, "telegram.reply:owner_channel", send)
        .await;
    kernel.pass(901);
    for _ in 0..2 {
        let state = kernel.state(&task.token, &held.at("/request_id")).await;
        assert_eq!(state.at("/state"), "expired");
    }
    is(
        &numbers(&kernel).await,
        r#"actum_decisions_total{decision="expired"}"#,
        1.0,
    );
}

#[tokio::test]
async fn the_numbers_open_with_their_own_key_and_that_key_opens_nothing_else() {
    let kernel = Here::start(Home::sample()).await;
    let task = owner(&kernel).await;
    let unknown = kernel.get("/metrics", None).await;
    unknown.refused_with_more(401, "unauthenticated", "token_invalid");
    let others = [
        task.token,
        kernel.key("owner"),
        kernel.connector_key("public_chat"),
        "0".repeat(64),
    ];
    for other in others {
        assert_eq!(kernel.get("/metrics", Some(&other)).await, unknown);
    }
    let key = kernel.key("metrics");
    for path in ["/v1/task", "/v1/owner/calls", "/v1/owner/messages"] {
        assert_eq!(kernel.get(path, Some(&key)).await.status, 401, "{path}");
    }
    for path in ["/v1/events", "/v1/actions", "/v1/owner/manifests/reload"] {
        let answer = kernel.post(path, Some(&key), event().to_string()).await;
        assert_eq!(answer.status, 401, "{path}");
    }
}

#[tokio::test]
async fn what_clients_make_up_adds_no_series() {
    let kernel = Here::start(Home::sample()).await;
    let task = owner(&kernel).await;
    let make_up = async |round: usize| {
        for n in 0..20 {
            let made_up = format!("made.up{round}_{n}");
            let absent = kernel.ask(&task.token, &made_up, json!({})).await;
            assert_eq!(absent.status, 404);
            kernel.get(&format!("/v1/{made_up}"), None).await;
            kernel.state(&task.token, &made_up).await;
            let method = reqwest::Method::from_bytes(format!("MADEUP{n}").as_bytes()).unwrap();
            let url = format!("{}/v1/task", kernel.url);
            kernel.send(kernel.http.request(method, url)).await;
        }
    };
    make_up(0).await;
    numbers(&kernel).await;
    let before = numbers(&kernel).await;
    make_up(1).await;
    let after = numbers(&kernel).await;
    assert!(before.keys().eq(after.keys()), "{after:#?}");
    is(
        &after,
        r#"actum_calls_total{action="unknown",answer="operation_absent"}"#,
        40.0,
    );
    is(
        &after,
        r#"actum_http_requests_total{method="_OTHER",route="/v1/task",status="405"}"#,
        40.0,
    );
    is(
        &after,
        r#"actum_http_requests_total{method="GET",route="unknown",status="404"}"#,
        40.0,
    );
}
