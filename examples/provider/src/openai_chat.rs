//! OpenAI, Chat Completions: `POST /v1/chat/completions`.

use actum::provider::Provider;
use serde_json::{Value, json};

use super::order::{Step, add};
use super::script::Call;
use super::{Api, content, list, text};

/// This API.
pub const API: Api = Api {
    provider: Provider::OpenAiChat,
    keys: &["authorization"],
    tools: |body| Ok(list(body, "/tools").to_vec()),
    steps,
    answer,
    error,
};

fn steps(body: &Value) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for message in list(body, "/messages") {
        let step = match text(message, "/role")? {
            "system" | "developer" | "user" => {
                content(message, "/content")?;
                Step::Said
            }
            "assistant" => {
                let calls = list(message, "/tool_calls");
                if calls.is_empty() {
                    content(message, "/content")?;
                }
                let ids = calls.iter().map(|call| {
                    text(call, "/function/arguments")?;
                    Ok(text(call, "/id")?.to_owned())
                });
                // Two messages are two turns here.
                steps.push(Step::Model(ids.collect::<Result<_, String>>()?));
                continue;
            }
            "tool" => {
                content(message, "/content")?;
                Step::Results(vec![text(message, "/tool_call_id")?.to_owned()])
            }
            other => return Err(format!("`{other}` is no role")),
        };
        add(&mut steps, step);
    }
    Ok(steps)
}

fn answer(text: &str, calls: &[(String, &Call)]) -> Value {
    let is_over = calls.is_empty();
    let mut message = json!({"role": "assistant", "content": text, "refusal": null});
    let calls = calls.iter().map(|(id, call)| {
        let arguments = Value::from(call.arguments.clone()).to_string();
        let function = json!({"name": call.tool, "arguments": arguments});
        json!({"id": id, "type": "function", "function": function})
    });
    if let (Some(message), false) = (message.as_object_mut(), is_over) {
        message.insert("content".to_owned(), Value::Null);
        message.insert("tool_calls".to_owned(), calls.collect());
    }
    json!({
        "id": "chatcmpl-local", "object": "chat.completion", "created": 0, "model": "local",
        "choices": [{
            "index": 0, "message": message, "logprobs": null,
            "finish_reason": if is_over { "stop" } else { "tool_calls" },
        }],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    })
}

/// An error in OpenAI's shape.
pub(super) fn error(problem: &str) -> Value {
    json!({"error": {
        "message": problem, "type": "invalid_request_error", "param": null, "code": null,
    }})
}
