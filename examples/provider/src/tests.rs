//! The rules bite: each of these requests breaks one, and is told so in the provider's own shape.

use std::path::Path;

use axum::body::Body;
use axum::http::HeaderValue;

use super::*;

const APIS: [(&Api, &str); 4] = [
    (&openai_chat::API, "/v1/chat/completions"),
    (&openai_responses::API, "/v1/responses"),
    (&anthropic::API, "/v1/messages"),
    (&gemini::API, "/v1beta/models/says-hello:generateContent"),
];

fn stage(folder: &Path) -> Stage {
    let script = r#"{"turns": [{"text": "Hello."}]}"#;
    std::fs::write(folder.join("says-hello.json"), script).unwrap();
    Stage {
        scripts: folder.to_owned(),
        requests: folder.join("requests"),
        calls: AtomicUsize::new(0),
    }
}

async fn asked(stage: &Stage, api: &Api, path: &str, body: &Value) -> (StatusCode, Value) {
    let mut request = Request::new(Body::from(body.to_string()));
    *request.uri_mut() = path.parse().unwrap();
    let key = HeaderValue::from_static("key");
    request.headers_mut().insert(api.keys[0], key);
    let response = answered(stage, api, request).await;
    let status = response.status();
    let body = to_bytes(response.into_body(), MOST_BYTES).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

/// The least that each API takes, with some tools.
fn request(provider: Provider, tools: &[Value]) -> Value {
    let said = json!([{"role": "user", "content": "Hello"}]);
    match provider {
        Provider::OpenAiResponses => json!({"model": "says-hello", "input": said, "tools": tools}),
        Provider::Gemini => json!({
            "contents": [{"role": "user", "parts": [{"text": "Hello"}]}],
            "tools": [{"functionDeclarations": tools}],
        }),
        _ => {
            json!({"model": "says-hello", "messages": said, "tools": tools, "max_tokens": 1})
        }
    }
}

fn tool(provider: Provider, name: &str) -> Value {
    let schema =
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let function =
        json!({"name": name, "description": "Do.", "parameters": schema, "strict": false});
    match provider {
        Provider::OpenAiChat => json!({"type": "function", "function": function}),
        Provider::OpenAiResponses => {
            let mut tool = function;
            tool["type"] = json!("function");
            tool
        }
        Provider::Anthropic => json!({"name": name, "description": "Do.", "input_schema": schema}),
        _ => json!({"name": name, "description": "Do."}),
    }
}

#[tokio::test]
async fn tools_that_break_a_rule_are_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let stage = stage(folder.path());
    for (api, path) in APIS {
        let good = tool(api.provider, "mail-send");
        let body = request(api.provider, std::slice::from_ref(&good));
        let (status, answer) = asked(&stage, api, path, &body).await;
        assert_eq!(status, StatusCode::OK, "{}: {answer}", api.provider);
        assert!(answer.to_string().contains("Hello."), "{answer}");

        for (tools, rule) in [
            (vec![tool(api.provider, "not a name")], "name"),
            (vec![good.clone(), good.clone()], "unique-names"),
            (vec![json!({"name": "mail-send", "more": 1})], "shape"),
        ] {
            let (status, answer) = asked(&stage, api, path, &request(api.provider, &tools)).await;
            assert_eq!(
                status,
                StatusCode::BAD_REQUEST,
                "{}: {answer}",
                api.provider
            );
            let told = answer["error"]["message"].as_str().unwrap();
            let family = api.provider.as_str().split('-').next().unwrap();
            let rule = format!("{family}.{rule};");
            assert!(told.contains(&rule), "{rule}: {told}");
        }
    }
    let requests = std::fs::read_to_string(folder.path().join("requests")).unwrap();
    assert_eq!(requests.lines().count(), APIS.len() * 4);
}

/// A conversation of one call and its results, as each API writes it.
fn conversation(provider: Provider, call: &str, results: &[&str]) -> Value {
    let of = |make: &dyn Fn(&&str) -> Value| results.iter().map(make).collect::<Vec<_>>();
    match provider {
        Provider::OpenAiChat => {
            let function = json!({"name": "t", "arguments": "{}"});
            let mut messages = vec![
                json!({"role": "system", "content": "Do."}),
                json!({"role": "user", "content": "Hello"}),
                json!({"role": "assistant", "tool_calls": [{"id": call, "function": function}]}),
            ];
            messages.extend(of(
                &|id| json!({"role": "tool", "tool_call_id": id, "content": "1"}),
            ));
            json!({"messages": messages})
        }
        Provider::OpenAiResponses => {
            let mut input = vec![
                json!({"role": "user", "content": "Hello"}),
                json!({"type": "function_call", "call_id": call, "name": "t", "arguments": "{}"}),
            ];
            input.extend(of(
                &|id| json!({"type": "function_call_output", "call_id": id, "output": "1"}),
            ));
            json!({"input": input})
        }
        Provider::Anthropic => {
            let results = of(&|id| json!({"type": "tool_result", "tool_use_id": id}));
            json!({"max_tokens": 1, "messages": [
                {"role": "user", "content": "Hello"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": call}]},
                {"role": "user", "content": results},
            ]})
        }
        _ => {
            let results =
                of(&|id| json!({"functionResponse": {"id": id, "name": "t", "response": {}}}));
            let call = json!({"functionCall": {"id": call, "name": "t"}, "thoughtSignature": "c2lnbmF0dXJl"});
            json!({"contents": [
                {"role": "user", "parts": [{"text": "Hello"}]},
                {"role": "model", "parts": [call]},
                {"role": "user", "parts": results},
            ]})
        }
    }
}

#[test]
fn each_call_is_answered_by_one_result_right_after_it() {
    for (api, _) in APIS {
        let turns = |call, results: &[&str]| {
            let body = conversation(api.provider, call, results);
            (api.steps)(&body).and_then(|steps| order::turns(&steps))
        };
        assert_eq!(turns("a", &["a"]), Ok(1), "{}", api.provider);
        for (results, words) in [
            (&["b"][..], "`b` is no call"),
            (&["a", "a"], "two results"),
            (&[], ""),
        ] {
            let told = turns("a", results).unwrap_err();
            assert!(told.contains(words), "{}: {told}", api.provider);
        }
    }
}

#[test]
fn the_model_and_the_user_speak_in_turn() {
    use order::Step::{Model, Results, Said};
    let (a, b) = (vec!["a".to_owned()], vec!["b".to_owned()]);
    for (steps, words) in [
        (vec![], "begins with"),
        (vec![Model(vec![])], "begins with"),
        (vec![Said, Model(a.clone())], "spoken last"),
        (
            vec![Said, Model(a.clone()), Said],
            "no result right after a",
        ),
        (vec![Said, Model(a.clone()), Results(b)], "`b` is no call"),
        (vec![Said, Results(a.clone())], "`a` is no call"),
    ] {
        let told = order::turns(&steps).unwrap_err();
        assert!(told.contains(words), "{steps:?}: {told}");
    }
    let two = [Said, Model(vec![]), Said, Model(a.clone()), Results(a)];
    assert_eq!(order::turns(&two), Ok(2));
    assert_eq!(order::alternate(&two), Ok(()));
    assert!(order::alternate(&[Said, Said]).is_err());
}

#[test]
fn gemini_reads_both_spellings_of_its_fields_and_nothing_else() {
    let read = |parameters: Value| {
        let tool = json!({"name": "t", "description": "Do.", "parameters": parameters});
        let tools = (gemini::API.tools)(&json!({"tools": [{"functionDeclarations": [tool]}]}));
        ruled(Provider::Gemini, &tools.unwrap())
    };
    let with = |name: &str, value: Value| {
        let list = json!({"type": "ARRAY", "items": {"any_of": [{"type": "STRING", name: value}]}});
        json!({"type": "OBJECT", "properties": {"a_list": list}, "required": ["a_list"]})
    };
    for (name, value) in [("max_length", json!(5)), ("maxLength", json!("5"))] {
        assert_eq!(read(with(name, value)), Ok(()));
    }
    for (name, value) in [
        ("max__length", json!(5)),
        ("max_length", json!(-5)),
        ("const", json!("a")),
    ] {
        let told = read(with(name, value)).unwrap_err();
        assert!(told.contains("gemini.schema-fields"), "{name}: {told}");
    }
}
