//! Bad input: each a clear answer in the one shape, with nothing half-done and the kernel at work.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use serde_json::{Value, json};

use support::answer::Answer;
use support::client::Task;
use support::home::Home;
use support::kernel::Program;

const TERMINAL: &str = "terminal.reply:owner_device";
const READ: &str = "email.read_thread:selected_no_attachments";

async fn start() -> (Program, Task) {
    let kernel = Program::start(Home::sample());
    let event = json!({"event_type": "chat.message", "channel_account": "front-page"});
    let task = kernel.begin("public_chat", &event).await;
    (kernel, task)
}

/// Asserts that nothing came of anything since [`start`], and that the kernel works.
async fn nothing_was_done(kernel: &Program, task: &Task) {
    let kinds = |ledger: Vec<(String, Value)>| -> Vec<String> {
        ledger.into_iter().map(|(kind, _)| kind).collect()
    };
    assert_eq!(
        kinds(kernel.home.ledger().await),
        ["kernel_started", "grant_issued"]
    );
    assert_eq!(kernel.home.calls().await, []);
    assert_eq!(kernel.messages().await, [""; 0]);
    let answer = kernel
        .ask(&task.token, TERMINAL, json!({"text": "Good."}))
        .await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(kernel.home.ledger().await.len(), 4);
}

#[tokio::test]
async fn a_body_that_is_no_json_object_is_refused_and_says_where() {
    let (kernel, task) = start().await;
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let in_arguments = |value: &str| format!(r#"{{"action":"a","arguments":{{"a":{value}}}}}"#);
    let bodies: Vec<(Vec<u8>, &str)> = vec![
        (b"".to_vec(), "line 1 column 0"),
        (b" \n ".to_vec(), "line 2 column 1"),
        (b"{".to_vec(), "line 1 column 1"),
        (b"{\n  \"action\": }".to_vec(), "line 2 column 13"),
        (b"{'action': 'a'}".to_vec(), "line 1 column 2"),
        (
            b"{\"action\": \"a\",}".to_vec(),
            "trailing comma at line 1 column 16",
        ),
        (b"{} {}".to_vec(), "trailing characters at line 1 column 4"),
        (b"action=a".to_vec(), "line 1 column 1"),
        (b"\xff\xfe{\x00}\x00".to_vec(), "not UTF-8 (at byte 0)"),
        (b"{\"action\": \"\xff\"}".to_vec(), "not UTF-8 (at byte 12)"),
        (b"\xef\xbb\xbf{}".to_vec(), "line 1 column 1"),
        (
            b"{\"action\": \"\\ud800\"}".to_vec(),
            "hex escape at line 1 column 19",
        ),
        (b"{\"action\": \"a\nb\"}".to_vec(), "control character"),
        (in_arguments("NaN").into(), "line 1 column"),
        (in_arguments("1e400").into(), "number out of range"),
        (in_arguments("01").into(), "line 1 column"),
        (
            in_arguments(&deep(31)).into(),
            "nested more than 32 levels deep",
        ),
        (
            in_arguments(&deep(100_000)).into(),
            "nested more than 32 levels deep",
        ),
        (
            "[".repeat(200_000).into(),
            "nested more than 32 levels deep",
        ),
        (
            br#"{"action":"a","action":"b"}"#.to_vec(),
            "the key `action` stands twice",
        ),
        (
            in_arguments(r#"{"x":1,"x":1}"#).into(),
            "the key `x` stands twice",
        ),
        (
            in_arguments(r#"{"x":1,"\u0078":1}"#).into(),
            "the key `x` stands twice",
        ),
        (b"[]".to_vec(), "the body is a JSON object"),
        (b"null".to_vec(), "the body is a JSON object"),
        (b"\"action\"".to_vec(), "the body is a JSON object"),
        (b"5".to_vec(), "the body is a JSON object"),
    ];
    let (connector, owner) = (kernel.connector_key("public_chat"), kernel.key("owner"));
    for (body, told) in bodies {
        for (path, token) in [
            ("/v1/actions", &task.token),
            ("/v1/events", &connector),
            ("/v1/owner/selections", &owner),
        ] {
            let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
            let answer = kernel.post(path, Some(token), body.clone()).await;
            answer.refused(400, "input_invalid", "request_malformed");
            assert!(
                answer.at("/error/message").contains(told),
                "{shown}: {answer:?}"
            );
        }
    }
    // Up to the bound, depth is taken.
    let answer = kernel
        .post("/v1/actions", Some(&task.token), in_arguments(&deep(30)))
        .await;
    answer.refused(404, "operation_absent", "unknown_operation");
}

#[tokio::test]
async fn a_call_of_another_shape_is_refused_by_the_field() {
    let (kernel, task) = start().await;
    let arguments = json!({"text": "Hello"});
    for (call, told) in [
        (json!({}), "missing field `action`"),
        (json!({"arguments": arguments}), "missing field `action`"),
        (json!({"Action": TERMINAL}), "unknown field `Action`"),
        (json!({"action": null}), "null"),
        (json!({"action": 5}), "integer"),
        (json!({"action": [TERMINAL]}), "sequence"),
        (json!({"action": {"id": TERMINAL}}), "map"),
        (json!({"action": TERMINAL, "arguments": null}), "null"),
        (json!({"action": TERMINAL, "arguments": []}), "sequence"),
        (
            json!({"action": TERMINAL, "arguments": [arguments]}),
            "sequence",
        ),
        (json!({"action": TERMINAL, "arguments": "{}"}), "string"),
        (json!({"action": TERMINAL, "arguments": 5}), "integer"),
        (json!({"action": TERMINAL, "arguments": true}), "boolean"),
        (
            json!({"action": TERMINAL, "arguments": arguments, "selection_token": 5}),
            "integer",
        ),
        (
            json!({"action": TERMINAL, "arguments": arguments, "task": task.id}),
            "unknown field `task`",
        ),
        (
            json!({"action": TERMINAL, "arguments": arguments, "": 1}),
            "unknown field ``",
        ),
    ] {
        let answer = kernel.call(&task.token, &call).await;
        answer.refused(400, "input_invalid", "request_malformed");
        assert!(
            answer.at("/error/message").contains(told),
            "{call}: {answer:?}"
        );
    }
    nothing_was_done(&kernel, &task).await;
}

fn faults(answer: &Answer) -> Vec<(String, String)> {
    answer.refused(400, "input_invalid", "input_schema_invalid");
    answer.json()["error"]["faults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| {
            let text = |key: &str| fault[key].as_str().unwrap().to_owned();
            (text("at"), text("problem"))
        })
        .collect()
}

#[tokio::test]
async fn all_faults_of_arguments_are_told_at_once_by_their_place_and_without_values() {
    let kernel = Program::start(Home::sample());
    let task = kernel.select("Dripping pipe").await;
    let ask = async |arguments: &Value| {
        let call = json!({
            "action": READ, "arguments": arguments, "selection_token": task.selections[0],
        });
        kernel.call(&task.token, &call).await
    };
    let wrong = json!({"max_messages": "s3cret", "colour": "s3cret", "size": {"a": ["s3cret"]}});
    let answer = ask(&wrong).await;
    let mut found = faults(&answer);
    found.sort();
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(
        found[0],
        (
            String::new(),
            "unknown argument `colour`, `size`".to_owned()
        )
    );
    assert_eq!(found[1].0, "/max_messages");
    assert!(
        found[1].1.contains("integer") && found[1].1.contains("found a string"),
        "{found:?}"
    );

    let missing_and_extra = faults(&ask(&json!({"colour": "s3cret"})).await);
    assert_eq!(missing_and_extra.len(), 2, "{missing_and_extra:?}");
    for value in [
        json!(0),
        json!(51),
        json!(-1),
        json!(1e9),
        json!(1.5),
        json!("1"),
        json!(null),
        json!([1]),
        json!({}),
        json!(true),
    ] {
        let found = faults(&ask(&json!({"max_messages": value})).await);
        assert_eq!(found.len(), 1, "{value}: {found:?}");
        assert_eq!(found[0].0, "/max_messages", "{value}");
    }

    // What was sent is in no answer, log or record.
    let told = format!("{answer:?}");
    assert!(!told.contains("s3cret"), "{told}");
    for (path, bytes) in kernel.home.traces() {
        let holds = bytes.windows(6).any(|window| window == b"s3cret");
        assert!(!holds, "{}", path.display());
    }
    // None of that spent the selection.
    assert_eq!(ask(&json!({"max_messages": 1})).await.status, 200);
}

#[tokio::test]
async fn no_arguments_are_checked_like_any_others() {
    let (kernel, task) = start().await;
    let empty = kernel
        .call(&task.token, &json!({"action": TERMINAL, "arguments": {}}))
        .await;
    assert_eq!(
        faults(&empty),
        [(String::new(), "missing argument `text`".to_owned())]
    );
    let none = kernel.call(&task.token, &json!({"action": TERMINAL})).await;
    assert_eq!(none, empty);
    assert_eq!(kernel.home.calls().await, []);
    assert_eq!(kernel.messages().await, [""; 0]);
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_by_its_size() {
    let home = Home::sample();
    home.configure("limits: { body_bytes: 5000 }");
    let kernel = Program::start(home);
    let event = json!({"event_type": "chat.message", "channel_account": "front-page"});
    let task = kernel.begin("public_chat", &event).await;

    let call = json!({"action": TERMINAL, "arguments": {"text": "Hello"}}).to_string();
    let padded = |bytes: usize| format!("{call}{}", " ".repeat(bytes - call.len()));
    let answer = kernel
        .post("/v1/actions", Some(&task.token), padded(5_000))
        .await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let (connector, owner) = (kernel.connector_key("public_chat"), kernel.key("owner"));
    for (path, token) in [
        ("/v1/actions", &task.token),
        ("/v1/events", &connector),
        ("/v1/owner/selections", &owner),
    ] {
        let answer = kernel.post(path, Some(token), padded(5_001)).await;
        answer.refused(413, "input_invalid", "request_too_large");
        assert!(answer.text().contains("over 5000 bytes"), "{answer:?}");
    }
    // A body that does not say how long it is, is bounded too.
    let chunk = format!("{:x}\r\n{}\r\n", 3_000, " ".repeat(3_000));
    let request = format!(
        "POST /v1/actions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n{chunk}{chunk}0\r\n\r\n",
        task.token
    );
    let answer = kernel.raw(request.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert_eq!(kernel.messages().await, ["Hello"]);
    // Without a valid token nothing of the body is looked at.
    let answer = kernel.post("/v1/actions", None, padded(5_001)).await;
    answer.refused(401, "unauthenticated", "token_invalid");
}

#[tokio::test]
async fn a_path_that_is_not_there_and_a_method_that_is_not_taken_are_told_in_the_same_shape() {
    let (kernel, task) = start().await;
    for path in [
        "/",
        "/v1",
        "/v1/",
        "/v1/task/",
        "/v1/tasks",
        "/V1/task",
        "//v1/task",
        "/v1//task",
        "/v1/task/../task/x",
        "/v1/actions/a/b",
        "/v2/task",
        "/v1/%74ask",
        "/.env",
        "/admin",
        "/v1/owner",
        "/v1/owner/tasks/x",
        "/healthz/",
        "/%00",
        "/%ff",
    ] {
        for token in [None, Some(task.token.as_str())] {
            let answer = kernel.get(path, token).await;
            answer.refused(404, "input_invalid", "unknown_path");
        }
    }
    for (method, path) in [
        ("POST", "/v1/task"),
        ("DELETE", "/v1/task"),
        ("GET", "/v1/actions"),
        ("PUT", "/v1/actions"),
        ("GET", "/v1/events"),
        ("POST", "/v1/actions/x"),
        ("POST", "/v1/owner/messages"),
        ("GET", "/v1/owner/selections"),
        ("GET", "/v1/owner/tasks/x/revoke"),
        ("POST", "/healthz"),
        ("TRACE", "/v1/task"),
        ("BREW", "/v1/task"),
    ] {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let request = kernel.http.request(method, format!("{}{path}", kernel.url));
        let answer = kernel.send(request.bearer_auth(&task.token)).await;
        answer.refused(405, "input_invalid", "unknown_method");
        assert!(!answer.headers["allow"].is_empty(), "{answer:?}");
    }
    nothing_was_done(&kernel, &task).await;
}

#[tokio::test]
async fn a_content_type_changes_nothing() {
    let (kernel, task) = start().await;
    let call = json!({"action": TERMINAL, "arguments": {"text": "Hello"}}).to_string();
    for content_type in [
        "application/json",
        "text/plain",
        "application/xml; charset=utf-16",
        "nonsense",
        "",
    ] {
        let request = kernel
            .http
            .post(format!("{}/v1/actions", kernel.url))
            .bearer_auth(&task.token)
            .header("content-type", content_type)
            .body(call.clone());
        let answer = kernel.send(request).await;
        assert_eq!(answer.status, 200, "{content_type}: {answer:?}");
        assert_eq!(answer.headers["content-type"], [b"application/json"]);
    }
}

#[tokio::test]
async fn headers_and_requests_out_of_bounds_or_order_are_refused() {
    let (kernel, task) = start().await;
    let request = |headers: &str| {
        format!("GET /healthz HTTP/1.1\r\nHost: a\r\n{headers}Connection: close\r\n\r\n")
    };
    let large = format!("X: {}\r\n", "a".repeat(100 * 1024));
    let many: String = (0..300).map(|at| format!("X-{at}: a\r\n")).collect();
    for (request, status) in [
        (request(""), "200"),
        (request(&large), "431"),
        (request(&many), "431"),
        (request("X Y: a\r\n"), "400"),
        (request("X: \u{1}\r\n"), "400"),
        (request("Content-Length: 1\r\nContent-Length: 2\r\n"), "400"),
        (request("Content-Length: -1\r\n"), "400"),
        (
            request("Content-Length: 99999999999999999999999\r\n"),
            "400",
        ),
        ("NONSENSE\r\n\r\n".to_owned(), "400"),
        ("GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n".to_owned(), "400"),
        (
            format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(70_000)),
            "414",
        ),
    ] {
        let answer = kernel.raw(request.as_bytes()).await;
        let shown: String = request.chars().take(60).collect();
        let expected = format!("HTTP/1.1 {status} ");
        // A request line that is too long is as well answered as headers that are too large.
        let also = answer.starts_with("HTTP/1.1 431 ") && status == "414";
        assert!(answer.starts_with(&expected) || also, "{shown}: {answer}");
    }
    // What stops in the middle of its body is no call.
    let half = format!(
        "POST /v1/actions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nContent-Length: 500\r\n\r\n{{\"action\":",
        task.token
    );
    let address = kernel.url.strip_prefix("http://").unwrap();
    let stream = std::net::TcpStream::connect(address).unwrap();
    std::io::Write::write_all(&mut &stream, half.as_bytes()).unwrap();
    drop(stream);
    nothing_was_done(&kernel, &task).await;
}

#[tokio::test]
async fn a_query_that_does_not_fit_is_refused_and_only_the_owner_is_told_why() {
    let (kernel, task) = start().await;
    for query in [
        "after=x",
        "after=1.5",
        "wait=-1",
        "wait=x",
        "after=1&after=2",
        "until=3",
        "after=99999999999999999999",
    ] {
        let path = format!("/v1/owner/messages?{query}");
        let answer = kernel.owner_get(&path).await;
        answer.refused(400, "input_invalid", "request_malformed");
        let stranger = kernel.get(&path, Some(&task.token)).await;
        stranger.refused(401, "unauthenticated", "token_invalid");
    }
    for query in ["", "?", "?after=0", "?after=-5&wait=0"] {
        let answer = kernel
            .owner_get(&format!("/v1/owner/messages{query}"))
            .await;
        assert_eq!(
            answer.json(),
            json!({"ok": true, "messages": []}),
            "{query}"
        );
    }
    nothing_was_done(&kernel, &task).await;
}

#[tokio::test]
async fn an_event_out_of_bounds_is_refused_and_recorded() {
    let (kernel, _task) = start().await;
    let with = |field: &str, value: Value| {
        let mut event = json!({"event_type": "chat.message", "channel_account": "front-page"});
        event[field] = value;
        event
    };
    let target = json!({"type": "email_thread", "id": "thr_0123456789abcdef"});
    let beyond = [
        with("channel_account", json!("")),
        with("channel_account", json!("a".repeat(257))),
        with("channel_account", json!("a\u{1b}[2J")),
        with("message", json!("a".repeat(16 * 1024 + 1))),
        with("target_refs", json!(vec![target.clone(); 17])),
        with("connector", json!("")),
    ];
    for event in &beyond {
        let answer = kernel.post_event("public_chat", event).await;
        answer.refused(403, "policy_denied", "event_invalid");
    }
    let malformed = [
        with("event_type", json!(null)),
        with("channel_account", json!(4711)),
        with("actor_hint", json!("robin")),
        with("actor_hint", json!({"handle": 5})),
        with("message", json!({"text": "Hello"})),
        with("target_refs", json!(target)),
        with("target_refs", json!([{"type": "no_such_thing"}])),
        json!({"event_type": "chat.message"}),
        json!({"channel_account": "front-page"}),
    ];
    for event in &malformed {
        let answer = kernel.post_event("public_chat", event).await;
        answer.refused(400, "input_invalid", "request_malformed");
    }
    let ledger = kernel.home.ledger().await;
    let kinds: Vec<&str> = ledger.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds[..2], ["kernel_started", "grant_issued"]);
    assert_eq!(
        kinds[2..],
        ["event_refused"; 6],
        "what could be read is recorded"
    );

    // At the bounds an event is taken.
    let mut event = with("message", json!("a".repeat(16 * 1024)));
    event["channel_account"] = json!("é".repeat(128));
    event["target_refs"] = json!(vec![target; 16]);
    assert_eq!(kernel.post_event("public_chat", &event).await.status, 201);
}

#[tokio::test]
async fn the_text_of_a_message_arrives_as_it_was_sent() {
    let (kernel, task) = start().await;
    let longest = "🌷".repeat(4_000);
    let texts = [
        "\u{0}\u{1b}[31m\r\n\t\"\\",
        "Ünïcödé 漢字 👩‍👩‍👧",
        " ",
        longest.as_str(),
    ];
    for text in texts {
        let answer = kernel
            .ask(&task.token, TERMINAL, json!({"text": text}))
            .await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    assert_eq!(kernel.messages().await, texts);
    // The bound counts characters, not bytes.
    let answer = kernel
        .ask(
            &task.token,
            TERMINAL,
            json!({"text": format!("{longest}!")}),
        )
        .await;
    assert_eq!(faults(&answer).len(), 1);
}
