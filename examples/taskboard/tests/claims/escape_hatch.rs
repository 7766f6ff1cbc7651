//! The way around everything else: off, or held to the scenario's targets in whatever spelling.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use actum_taskboard::CompanyApi;
use actum_taskboard::api::BadAddress;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::office::{Answer, Office, Served};

const HATCH: &str = "generic_api_request";
const TRIAL: &str = "manifests/scenarios/skill_test.yaml";

/// The company's API, which notes what it is asked.
struct Api {
    url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

#[derive(Debug, Clone, PartialEq)]
struct Asked {
    line: String,
    headers: BTreeMap<String, String>,
    body: String,
}

impl Api {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::default();
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&asked));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, asked }
    }

    fn client(&self) -> CompanyApi {
        company_api(&self.url).unwrap()
    }

    /// What it was asked since the last time.
    fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    /// The request lines of what it was asked since the last time.
    fn lines(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.line).collect()
    }
}

fn company_api(address: &str) -> Result<CompanyApi, BadAddress> {
    CompanyApi::at(address, actum_kernel::http::client())
}

async fn answer(
    State(asked): State<Arc<Mutex<Vec<Asked>>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let text = |value: &[u8]| String::from_utf8(value.to_vec()).unwrap();
    let headers = headers
        .iter()
        .map(|(name, value)| (name.to_string(), text(value.as_bytes())));
    asked.lock().unwrap().push(Asked {
        line: format!("{method} {uri}"),
        headers: headers.collect(),
        body: text(&body),
    });
    match uri.path() {
        "/v1/items/moved" => (StatusCode::FOUND, [(header::LOCATION, "/admin")]).into_response(),
        "/v1/items/large" => "x".repeat(300_000).into_response(),
        "/v1/items/text" => "plain".into_response(),
        _ => (
            [
                (header::SET_COOKIE, "session=of-the-api"),
                (header::ETAG, "\"7\""),
            ],
            json!({"items": []}).to_string(),
        )
            .into_response(),
    }
}

async fn office_with(api: &Api) -> Served {
    Office::sample().serve_with(api.client()).await
}

async fn send(served: &Served, token: &str, method: &str, path: &str) -> Answer {
    let request = json!({"method": method, "path": path, "headers": {}});
    served.ask(token, HATCH, request).await
}

#[tokio::test]
async fn it_is_off_but_in_trials_that_name_targets() {
    let api = Api::start().await;
    let served = office_with(&api).await;
    for event in ["chat.message", "chat.question", "chat.plan"] {
        let token = served.begin("ada", event).await;
        assert!(!served.names(&token).await.contains(HATCH), "{event}");
        let answer = send(&served, &token, "GET", "/health").await;
        answer.refused(404, "operation_absent", "unknown_operation");
    }
    let on = served.begin("ada", "chat.trial").await;
    assert!(served.names(&on).await.contains(HATCH));

    let office = served.stop().await;
    let text = std::fs::read_to_string(office.path(TRIAL)).unwrap();
    let (without, _) = text.split_once("api_targets:").unwrap();
    std::fs::write(office.path(TRIAL), without).unwrap();
    let served = office.serve_with(api.client()).await;
    let answer = send(&served, &on, "GET", "/health").await;
    answer.refused(403, "policy_denied", "generic_escape_hatch_disabled");
    let off = served.begin("ada", "chat.trial").await;
    assert!(!served.names(&off).await.contains(HATCH));
    let answer = send(&served, &off, "GET", "/health").await;
    answer.refused(404, "operation_absent", "unknown_operation");
    assert_eq!(api.lines(), [""; 0]);
}

#[tokio::test]
async fn a_request_goes_out_in_one_spelling_and_its_answer_comes_back() {
    let api = Api::start().await;
    let served = office_with(&api).await;
    let token = served.begin("ada", "chat.trial").await;
    let goes_out = [
        ("GET", "/health", "GET /health"),
        ("get", "/health", "GET /health"),
        ("GET", "/%68ealth", "GET /health"),
        ("GET", "/away/../health", "GET /health"),
        ("GET", "/v1/items", "GET /v1/items"),
        ("GET", "/v1/./items/7", "GET /v1/items/7"),
        ("GET", "/v1/items/", "GET /v1/items/"),
        ("GET", "/v1/items/a b", "GET /v1/items/a%20b"),
        ("GET", "/v1/items/caf%C3%A9", "GET /v1/items/caf%C3%A9"),
        (
            "GET",
            "/v1/items?page=2&q=a%20b",
            "GET /v1/items?page=2&q=a%20b",
        ),
        (
            "GET",
            "/v1/items?next=/../admin",
            "GET /v1/items?next=/../admin",
        ),
        ("GET", "/v1/items/7/../8", "GET /v1/items/8"),
    ];
    for (method, path, line) in goes_out {
        let result = send(&served, &token, method, path).await.result();
        assert_eq!(result["status"], 200, "{path}");
        assert_eq!(api.lines(), [line], "{path}");
    }

    let request = json!({
        "method": "POST", "path": "/v1/items", "body": {"title": "Slates"},
        "headers": {"Authorization": "Bearer of-the-model", "X-Trace": "7"},
    });
    let result = served.ask(&token, HATCH, request).await.result();
    assert_eq!(result["body"], json!({"items": []}));
    assert_eq!(result["headers"]["etag"], "\"7\"");
    assert_eq!(result["headers"]["set-cookie"], Value::Null);
    let asked = api.asked();
    assert_eq!(asked[0].body, r#"{"title":"Slates"}"#);
    for (name, value) in [
        ("authorization", "Bearer of-the-model"),
        ("x-trace", "7"),
        ("content-type", "application/json"),
    ] {
        assert_eq!(asked[0].headers[name], value);
    }
}

#[tokio::test]
async fn an_api_below_a_path_is_asked_below_it() {
    let api = Api::start().await;
    for base in ["/base", "/base/"] {
        let below = company_api(&format!("{}{base}", api.url)).unwrap();
        let served = Office::sample().serve_with(below).await;
        let token = served.begin("ada", "chat.trial").await;
        for path in ["/health", "/v1/items/"] {
            send(&served, &token, "GET", path).await.result();
            assert_eq!(api.lines(), [format!("GET /base{path}")]);
        }
    }
}

#[tokio::test]
async fn no_spelling_of_another_target_gets_through() {
    let api = Api::start().await;
    let served = office_with(&api).await;
    let token = served.begin("ada", "chat.trial").await;
    let others = [
        ("DELETE", "/health"),
        ("HEAD", "/health"),
        ("GET ", "/health"),
        ("", "/health"),
        ("POST", "/v1/items/7"),
        ("POST", "/v1/items?force=1"),
        ("POST", "/v1/items?"),
        // Beside, above, and of another case.
        ("GET", "/admin"),
        ("GET", "/"),
        ("GET", ""),
        ("GET", "health"),
        ("GET", "/Health"),
        ("GET", "/health/"),
        ("GET", "/health/deep"),
        ("GET", "/health."),
        ("GET", "/health?verbose=1"),
        ("GET", "/health%3fverbose=1"),
        ("GET", "/health#top"),
        ("GET", "/health "),
        (" GET", "/health"),
        ("GET", " /health"),
        ("GET", "/v1/itemsets"),
        ("GET", "/v1/items.json"),
        ("GET", "/V1/items"),
        // Dot segments: plain, encoded, encoded twice, half, with parameters, backwards.
        ("GET", "/v1/items/../../admin"),
        ("GET", "/v1/items/.."),
        ("GET", "/v1/items/%2e%2e/%2E%2E/admin"),
        ("GET", "/v1/items/.%2e/admin"),
        ("GET", "/v1/items/%252e%252e/admin"),
        ("GET", "/v1/items/..%2f..%2fadmin"),
        ("GET", "/v1/items%2f..%2f..%2fadmin"),
        ("GET", "/v1/items/..;/admin"),
        ("GET", "/v1/items/..%3b/admin"),
        ("GET", "/v1/items/..\\..\\admin"),
        ("GET", "/v1/items/..%5cadmin"),
        ("GET", "/../health"),
        // Empty segments, and what is no path at all.
        ("GET", "//v1/items"),
        ("GET", "/v1//items"),
        ("GET", "/v1/items//7"),
        ("GET", "//127.0.0.1/health"),
        ("GET", "http://127.0.0.1/health"),
        ("GET", "http://127.0.0.1./health"),
        ("GET", "https:health"),
        ("GET", "\\health"),
        ("GET", "*"),
        // Escapes that are none, control characters, and what looks like the path.
        ("GET", "/v1/items/%"),
        ("GET", "/v1/items/%zz"),
        ("GET", "/v1/items/%ff"),
        ("GET", "/health%00"),
        ("GET", "/health\0"),
        ("GET", "/health\r\nHost: elsewhere"),
        ("GET", "/health%0d%0aHost: elsewhere"),
        ("GET", "/he\u{430}lth"),
        ("GET", "/health\u{200b}"),
        ("GET", "／health"),
    ];
    for (method, path) in others {
        let answer = send(&served, &token, method, path).await;
        answer.refused(403, "policy_denied", "generic_escape_hatch_target_denied");
    }
    assert_eq!(api.lines(), [""; 0]);
    // Nothing of it was begun.
    let office = served.stop().await;
    assert_eq!(office.records("call_started").await, [Value::Null; 0]);
}

#[tokio::test]
async fn no_header_leads_a_request_elsewhere() {
    let api = Api::start().await;
    let served = office_with(&api).await;
    let token = served.begin("ada", "chat.trial").await;
    let send = async |name: &str, value: &str| {
        let request = json!({"method": "GET", "path": "/health", "headers": {name: value}});
        served.ask(&token, HATCH, request).await
    };
    for name in [
        "Host",
        "HOST",
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        "Upgrade",
        "Expect",
        "Forwarded",
        "X-Forwarded-Host",
        "X-Forwarded-Prefix",
        "X-Original-URL",
        "X-Rewrite-URL",
        "X-HTTP-Method-Override",
        "X_HTTP_Method",
        "Proxy-Authorization",
        "No Header",
        "",
    ] {
        let answer = send(name, "7").await;
        answer.refused(422, "operation_unsupported", "operation_failed");
    }
    let answer = send("X-Trace", "7\r\nHost: elsewhere").await;
    answer.refused(422, "operation_unsupported", "operation_failed");
    assert_eq!(api.lines(), [""; 0]);
    send("X-Security-Level", "7").await.result();
    assert_eq!(api.lines(), ["GET /health"]);
}

#[tokio::test]
async fn an_answer_is_taken_as_it_is_and_no_longer_than_it_may_be() {
    let api = Api::start().await;
    let served = office_with(&api).await;
    let token = served.begin("ada", "chat.trial").await;
    let moved = send(&served, &token, "GET", "/v1/items/moved")
        .await
        .result();
    assert_eq!(moved["status"], 302);
    assert_eq!(moved["headers"]["location"], "/admin");
    assert_eq!(api.lines(), ["GET /v1/items/moved"], "and not to /admin");
    let text = send(&served, &token, "GET", "/v1/items/text")
        .await
        .result();
    assert_eq!(text["body"], "plain");
    let large = send(&served, &token, "GET", "/v1/items/large").await;
    large.refused(422, "operation_unsupported", "outcome_unknown");
}

#[tokio::test]
async fn without_an_api_it_is_unavailable() {
    let served = Office::sample().serve().await;
    let token = served.begin("ada", "chat.trial").await;
    let answer = send(&served, &token, "GET", "/health").await;
    answer.refused(422, "operation_unsupported", "unavailable");
    // Nobody listens there any more.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gone = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let office = served.stop().await;
    let served = office.serve_with(company_api(&gone).unwrap()).await;
    let answer = send(&served, &token, "GET", "/health").await;
    answer.refused(422, "operation_unsupported", "unavailable");
}

#[test]
fn an_address_is_one_of_http_and_holds_nothing_else() {
    for address in [
        "",
        "api.example.org",
        "ftp://api.example.org",
        "file:///etc",
        "data:text/plain,x",
        "https://user:word@api.example.org",
        "https://user@api.example.org",
        "https://:word@api.example.org",
        "https://api.example.org/?key=word",
        "https://api.example.org/#top",
    ] {
        let told = company_api(address).unwrap_err().to_string();
        assert!(told.contains("https://api.example.org`"), "{told}");
        assert!(!told.contains("word"), "{told}");
    }
    for address in ["http://localhost:7000", "https://api.example.org/base/"] {
        assert!(company_api(address).is_ok(), "{address}");
    }
}
