//! Traces as a collector gets them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use prost::Message;
use serde_json::json;
use tokio::net::TcpListener;

use support::client::{Client, Task};
use support::home::Home;
use support::kernel::Program;

const PREVIEW: &str = "lyra.ui.preview";
const STATUS: &str = "openspine.status.read";
/// The trace that a worker began itself, and its span there.
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";

/// Takes traces by OTLP over HTTP, as a collector does, and keeps what came.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Bytes>>>);

#[derive(Debug)]
struct Seen {
    name: String,
    trace: String,
    id: String,
    parent: String,
    fields: BTreeMap<String, String>,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn told(value: Option<AnyValue>) -> String {
    match value.unwrap().value.unwrap() {
        Any::StringValue(text) => text,
        Any::IntValue(number) => number.to_string(),
        Any::BoolValue(is) => is.to_string(),
        other => panic!("{other:?}"),
    }
}

fn fields(attributes: Vec<KeyValue>) -> BTreeMap<String, String> {
    let pairs = attributes.into_iter();
    pairs.map(|one| (one.key, told(one.value))).collect()
}

impl Collector {
    /// Its endpoint.
    async fn start(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1/traces", listener.local_addr().unwrap());
        let take =
            async |State(Self(came)): State<Self>, uri: Uri, headers: HeaderMap, body: Bytes| {
                assert_eq!(uri.path(), "/v1/traces");
                assert_eq!(headers["content-type"], "application/x-protobuf");
                came.lock().unwrap().push(body);
            };
        let router = Router::new().fallback(take).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }

    fn spans(&self) -> Vec<Seen> {
        let came = self.0.lock().unwrap();
        let mut seen = Vec::new();
        for body in came.iter() {
            let request = ExportTraceServiceRequest::decode(body.clone()).unwrap();
            for of_resource in request.resource_spans {
                let of = fields(of_resource.resource.unwrap().attributes);
                assert_eq!(of["service.name"], "actum");
                assert_eq!(of["service.version"], env!("CARGO_PKG_VERSION"));
                for span in of_resource
                    .scope_spans
                    .into_iter()
                    .flat_map(|scope| scope.spans)
                {
                    seen.push(Seen {
                        name: span.name,
                        trace: hex(&span.trace_id),
                        id: hex(&span.span_id),
                        parent: hex(&span.parent_span_id),
                        fields: fields(span.attributes),
                    });
                }
            }
        }
        seen
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().concat()
    }
}

async fn owner(kernel: &Client) -> Task {
    let event = json!({
        "event_type": "chat.message", "channel_account": "front-page",
        "actor_hint": {"handle": "robin"}, "message": "the words of a sender",
    });
    kernel.begin("signed_in_chat", &event).await
}

/// A call in the worker's own trace.
async fn traced(kernel: &Client, task: &Task, body: serde_json::Value) -> support::answer::Answer {
    let request = kernel.http.post(format!("{}/v1/actions", kernel.url));
    let request = request
        .bearer_auth(&task.token)
        .header("traceparent", format!("00-{TRACE}-{CALLER}-00"))
        .body(body.to_string());
    kernel.send(request).await
}

// Waiting for the kernel's end must not keep the collector from answering.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_one_trace_from_the_callers_span_to_the_handler_and_tells_nothing_that_was_said()
{
    let collector = Collector::default();
    let home = Home::sample();
    let endpoint = collector.start().await;
    home.configure(&format!("traces: {{ endpoint: {endpoint:?} }}"));
    let kernel = Program::start(home);
    let task = owner(&kernel).await;
    let done = traced(&kernel, &task, json!({"action": STATUS})).await;
    assert_eq!(done.status, 200, "{}", done.text());
    let call = json!({"action": PREVIEW, "idempotency_key": "words-of-a-key", "arguments": {
        "title": "Answer", "kind": "text", "body": "the words of a worker",
    }});
    let held = traced(&kernel, &task, call).await.at("/request_id");
    let shown = kernel.owner_get(&format!("/v1/owner/calls/{held}")).await;
    let seen = json!({"binding": shown.at("/call/binding"), "reason": "the words of an owner"});
    let approved = kernel
        .owner_post(&format!("/v1/owner/calls/{held}/approve"), &seen)
        .await;
    assert_eq!(approved.at("/state"), "succeeded");
    let absent = kernel.ask(&task.token, "does.not.exist", json!({})).await;
    assert_eq!(absent.status, 404);
    let secrets = [
        task.token.clone(),
        kernel.key("owner"),
        kernel.connector_key("signed_in_chat"),
    ];
    kernel.terminate();
    let (status, _home) = kernel.ended();
    assert!(status.success());

    let spans = collector.spans();
    let child_of = |parent: &str, name: &str| {
        let mut found = spans
            .iter()
            .filter(|span| span.parent == parent && span.name == name);
        let one = found
            .next()
            .unwrap_or_else(|| panic!("no {name} below {parent}: {spans:#?}"));
        assert!(found.next().is_none(), "two {name}");
        one
    };
    let with = |field: &str, value: &str| -> Vec<&Seen> {
        let has = |span: &&Seen| span.fields.get(field).is_some_and(|is| is == value);
        spans.iter().filter(has).collect()
    };

    // The call that ran at once is below the caller's own span, down to its handler.
    let requests: Vec<&Seen> = spans.iter().filter(|span| span.parent == CALLER).collect();
    assert_eq!(requests.len(), 2, "{spans:#?}");
    let request = requests
        .iter()
        .find(|span| span.fields["http.response.status_code"] == "200");
    let request = request.unwrap();
    assert_eq!(request.name, "POST /v1/actions");
    assert_eq!(request.fields["http.route"], "/v1/actions");
    let call = child_of(&request.id, "call");
    assert_eq!(call.fields["actum.action"], STATUS);
    assert_eq!(call.fields["actum.answer"], "done");
    assert_eq!(call.fields["actum.call"], done.at("/request_id"));
    assert_eq!(call.fields["actum.task"], task.id);
    let dispatch = child_of(&call.id, "dispatch");
    assert_eq!(dispatch.fields["actum.begin"], "new");
    assert_eq!(dispatch.fields["actum.outcome"], "succeeded");
    let handler = child_of(&dispatch.id, "handler");
    for span in [*request, call, dispatch, handler] {
        assert_eq!(span.trace, TRACE);
    }

    // What was approved ran below the approver's request, and its id leads to the call that asked.
    let of_held = with("actum.call", &held);
    let names: Vec<&str> = of_held.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let asked = of_held.iter().find(|span| span.name == "call").unwrap();
    assert_eq!(asked.fields["actum.answer"], "approval_required");
    let ran = of_held.iter().find(|span| span.name == "dispatch").unwrap();
    assert_eq!(ran.fields["actum.begin"], "approved");
    assert_ne!(ran.trace, TRACE);
    child_of(&ran.id, "handler");

    let absent = with("actum.action", "does.not.exist");
    assert_eq!(absent.len(), 1);
    assert_eq!(absent[0].fields["actum.answer"], "operation_absent");

    let bytes = collector.bytes();
    let has = |text: &str| {
        bytes
            .windows(text.len())
            .any(|bytes| bytes == text.as_bytes())
    };
    assert!(has(STATUS), "the search finds what is there");
    let said = [
        "of a sender",
        "of a worker",
        "of an owner",
        "words-of-a-key",
    ]
    .map(str::to_owned);
    for text in said.iter().chain(&secrets) {
        assert!(!has(text), "{text}");
    }
}

#[tokio::test]
async fn a_collector_that_is_away_keeps_no_call_and_no_stop() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}/v1/traces", closed.local_addr().unwrap());
    drop(closed);
    let home = Home::sample();
    home.configure(&format!("traces: {{ endpoint: {endpoint:?} }}"));
    let kernel = Program::start(home);
    let task = owner(&kernel).await;
    for _ in 0..5 {
        let done = kernel.ask(&task.token, STATUS, json!({})).await;
        assert_eq!(done.status, 200, "{}", done.text());
    }
    kernel.terminate();
    let (status, home) = kernel.ended();
    assert!(status.success());
    let log = std::fs::read_to_string(home.path().join("stderr.log")).unwrap();
    let told = log.matches("traces cannot be sent").count();
    assert_eq!(told, 1, "{log}");
}

#[tokio::test]
async fn what_traces_ask_for_is_checked_before_anything_starts() {
    let home = Home::sample();
    home.configure("traces: { endpoint: localhost:4318, one_in: 0 }");
    let faults = actum_kernel::config::Config::load(&home.config_file()).unwrap_err();
    let told = faults.to_string();
    assert!(told.contains("traces.endpoint"), "{told}");
    assert!(told.contains("http://127.0.0.1:4318/v1/traces"), "{told}");
    assert!(told.contains("traces.one_in"), "{told}");
}
