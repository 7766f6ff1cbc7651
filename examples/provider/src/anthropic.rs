//! Anthropic, Messages: `POST /v1/messages`.

use actum::provider::Provider;
use serde_json::{Value, json};

use super::order::{self, Step};
use super::script::Call;
use super::{Api, content, list, text};

/// This API.
pub const API: Api = Api {
    provider: Provider::Anthropic,
    keys: &["authorization", "x-api-key"],
    tools: |body| Ok(list(body, "/tools").to_vec()),
    steps,
    answer,
    error,
};

fn steps(body: &Value) -> Result<Vec<Step>, String> {
    if body.get("max_tokens").and_then(Value::as_u64).is_none() {
        return Err("max_tokens: Field required".to_owned());
    }
    let mut steps = Vec::new();
    for message in list(body, "/messages") {
        content(message, "/content")?;
        let blocks = list(message, "/content");
        let ids = |kind: &str, at: &str| {
            let of_kind = |block: &&Value| text(block, "/type") == Ok(kind);
            let ids = blocks.iter().filter(of_kind);
            let ids = ids.map(|block| Ok(text(block, at)?.to_owned()));
            ids.collect::<Result<Vec<_>, String>>()
        };
        steps.push(match text(message, "/role")? {
            "user" => match ids("tool_result", "/tool_use_id")? {
                results if results.is_empty() => Step::Said,
                results => Step::Results(results),
            },
            "assistant" => Step::Model(ids("tool_use", "/id")?),
            other => return Err(format!("`{other}` is no role of a message")),
        });
    }
    order::alternate(&steps)?;
    Ok(steps)
}

fn answer(text: &str, calls: &[(String, &Call)]) -> Value {
    let said = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
    let stop = if calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    let calls = calls.iter().map(
        |(id, call)| json!({"type": "tool_use", "id": id, "name": call.tool, "input": call.arguments}),
    );
    json!({
        "id": "msg_local", "type": "message", "role": "assistant", "model": "local",
        "content": said.into_iter().chain(calls).collect::<Value>(),
        "stop_reason": stop, "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    })
}

fn error(problem: &str) -> Value {
    json!({"type": "error", "error": {"type": "invalid_request_error", "message": problem}})
}
