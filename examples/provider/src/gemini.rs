//! Google, Gemini API: `POST /v1beta/models/MODEL:generateContent`.

use actum::provider::Provider;
use serde_json::{Value, json};

use super::order::{self, Step};
use super::script::Call;
use super::{Api, list, text};

/// This API.
pub const API: Api = Api {
    provider: Provider::Gemini,
    key: "x-goog-api-key",
    tools,
    steps,
    answer,
    error,
};

/// What a call has to bring back as it was.
const SIGNATURE: &str = "c2lnbmF0dXJl";

fn tools(body: &Value) -> Result<Vec<Value>, String> {
    let mut tools = Vec::new();
    for group in list(body, "/tools") {
        tools.extend_from_slice(list(group, "/functionDeclarations"));
    }
    Ok(tools)
}

fn steps(body: &Value) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for content in list(body, "/contents") {
        let parts = list(content, "/parts");
        let mut calls = Vec::new();
        let mut results = Vec::new();
        for part in parts {
            if part.get("functionCall").is_some() {
                let first = calls.is_empty();
                if first && text(part, "/thoughtSignature") != Ok(SIGNATURE) {
                    return Err("Function call is missing a thought_signature".to_owned());
                }
                calls.push(text(part, "/functionCall/id")?.to_owned());
            }
            if let Some(result) = part.get("functionResponse") {
                text(result, "/name")?;
                if !result.get("response").is_some_and(Value::is_object) {
                    return Err("a function's response is an object".to_owned());
                }
                results.push(text(result, "/id")?.to_owned());
            }
        }
        steps.push(match text(content, "/role")? {
            _ if parts.is_empty() => return Err("a content has parts".to_owned()),
            "model" => Step::Model(calls),
            "user" if results.is_empty() => Step::Said,
            "user" => Step::Results(results),
            other => return Err(format!("`{other}` is no role of a content")),
        });
    }
    order::alternate(&steps)?;
    Ok(steps)
}

fn answer(text: &str, calls: &[(String, &Call)]) -> Value {
    let said = (!text.is_empty()).then(|| json!({"text": text}));
    let calls = calls.iter().enumerate().map(|(index, (id, call))| {
        let call = json!({"id": id, "name": call.tool, "args": call.arguments});
        // The first of several calls has the signature of all.
        match index {
            0 => json!({"functionCall": call, "thoughtSignature": SIGNATURE}),
            _ => json!({"functionCall": call}),
        }
    });
    let parts: Value = said.into_iter().chain(calls).collect();
    json!({
        "candidates": [{
            "index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": parts},
        }],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": "local",
    })
}

fn error(problem: &str) -> Value {
    json!({"error": {"code": 400, "message": problem, "status": "INVALID_ARGUMENT"}})
}
