//! OpenAI, Responses: `POST /v1/responses`.

use actum::provider::Provider;
use serde_json::{Value, json};

use super::order::{Step, add};
use super::script::Call;
use super::{Api, content, list, openai_chat, text};

/// This API.
pub const API: Api = Api {
    provider: Provider::OpenAiResponses,
    keys: &["authorization"],
    tools: |body| Ok(list(body, "/tools").to_vec()),
    steps,
    answer,
    error: openai_chat::error,
};

fn steps(body: &Value) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for item in list(body, "/input") {
        // A message may leave its type out.
        let kind = item.get("type").and_then(Value::as_str);
        let step = match kind.unwrap_or("message") {
            "message" => {
                content(item, "/content")?;
                match text(item, "/role")? {
                    "assistant" => Step::Model(Vec::new()),
                    "system" | "developer" | "user" => Step::Said,
                    other => return Err(format!("`{other}` is no role")),
                }
            }
            "function_call" => {
                text(item, "/name")?;
                text(item, "/arguments")?;
                Step::Model(vec![text(item, "/call_id")?.to_owned()])
            }
            "function_call_output" => {
                content(item, "/output")?;
                Step::Results(vec![text(item, "/call_id")?.to_owned()])
            }
            other => return Err(format!("`{other}` is no type of an item here")),
        };
        add(&mut steps, step);
    }
    Ok(steps)
}

fn answer(text: &str, calls: &[(String, &Call)]) -> Value {
    let said = (!text.is_empty()).then(|| {
        json!({
            "type": "message", "id": "msg_local", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}],
        })
    });
    let calls = calls.iter().map(|(id, call)| {
        json!({
            "type": "function_call", "id": format!("fc_{id}"), "call_id": id,
            "name": call.tool, "status": "completed",
            "arguments": Value::from(call.arguments.clone()).to_string(),
        })
    });
    json!({
        "id": "resp_local", "object": "response", "created_at": 0, "status": "completed",
        "model": "local", "output": said.into_iter().chain(calls).collect::<Value>(),
        "error": null, "incomplete_details": null, "instructions": null, "metadata": {},
        "parallel_tool_calls": true, "temperature": 1, "tool_choice": "auto", "tools": [], "top_p": 1,
        "usage": {
            "input_tokens": 1, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2,
        },
    })
}
