//! Google, Gemini API: `POST /v1beta/models/MODEL:generateContent`, or the same below `/v1`.

use actum::provider::Provider;
use serde_json::{Value, json};

use super::order::{self, Step};
use super::script::Call;
use super::{Api, list, text};

/// This API.
pub const API: Api = Api {
    provider: Provider::Gemini,
    keys: &["x-goog-api-key"],
    tools,
    steps,
    answer,
    error,
};

/// What a call has to bring back as it was.
const SIGNATURE: &str = "c2lnbmF0dXJl";

fn tools(body: &Value) -> Result<Vec<Value>, String> {
    let groups = list(body, "/tools").iter();
    let tools = groups.flat_map(|group| list(group, "/functionDeclarations"));
    let tools = tools.cloned().map(|mut tool| {
        if let Some(parameters) = tool.get_mut("parameters") {
            *parameters = as_published(parameters);
        }
        tool
    });
    Ok(tools.collect())
}

/// Fields of a schema that have two names, the published one last, and those of them that are an int64.
const TWO_NAMES: [(&str, &str); 2] = [
    ("any_of", "anyOf"),
    ("property_ordering", "propertyOrdering"),
];
const INT64: [(&str, &str); 6] = [
    ("min_items", "minItems"),
    ("max_items", "maxItems"),
    ("min_length", "minLength"),
    ("max_length", "maxLength"),
    ("min_properties", "minProperties"),
    ("max_properties", "maxProperties"),
];

/// A schema in the spelling that is published.
///
/// The API reads ProtoJSON (<https://protobuf.dev/programming-guides/json/>), where each field has a second name,
/// with `_`, and an int64 may be a number as well as a text. Google's own client for Python writes both.
fn as_published(schema: &Value) -> Value {
    let Some(fields) = schema.as_object() else {
        return schema.clone();
    };
    let fields = fields.iter().map(|(name, value)| {
        let is_name = |two: &&(&str, &str)| two.0 == name || two.1 == name;
        let int64 = INT64.iter().find(is_name);
        let name = int64
            .or(TWO_NAMES.iter().find(is_name))
            .map_or(name.as_str(), |two| two.1);
        let value = match (name, value) {
            ("properties", Value::Object(properties)) => {
                let read = |(name, schema): (&String, _)| (name.clone(), as_published(schema));
                Value::Object(properties.iter().map(read).collect())
            }
            ("anyOf", Value::Array(schemas)) => schemas.iter().map(as_published).collect(),
            ("items", schema) => as_published(schema),
            (_, Value::Number(number)) if int64.is_some() => json!(number.to_string()),
            _ => value.clone(),
        };
        (name.to_owned(), value)
    });
    Value::Object(fields.collect())
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
