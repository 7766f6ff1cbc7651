//! The OpenAPI document of `/v1`, made from the types that requests are read into and answers are written from.
//!
//! It describes shapes, and names no action: the same for every kernel of this version, whatever is linked into it. What
//! stands in it and is not derived from a type is in [`shapes`], and held against real answers by tests.
//!
//! Format: OpenAPI 3.1.1, whose schemas are JSON Schema 2020-12.

mod operations;
mod shapes;

use serde_json::{Map, Value, json};

use shapes::Shapes;
pub(crate) use shapes::forms;

/// Whose key a request presents.
#[derive(Debug, Clone, Copy)]
enum Key {
    Task,
    Connector,
    Owner,
    Approver,
}

impl Key {
    const ALL: [Self; 4] = [Self::Task, Self::Connector, Self::Owner, Self::Approver];

    const fn name(self) -> &'static str {
        match self {
            Self::Task => "task_token",
            Self::Connector => "connector_key",
            Self::Owner => "owner_key",
            Self::Approver => "approver_key",
        }
    }

    const fn told(self) -> &'static str {
        match self {
            Self::Task => "The token of a task, which the answer to its event had.",
            Self::Connector => {
                "The key of a connector, `keys/connector-NAME.key` in the data folder."
            }
            Self::Owner => "The owner's key, `keys/owner.key` in the data folder.",
            Self::Approver => {
                "The owner's key, or that of an approver, `keys/approver-NAME.key` in the data folder."
            }
        }
    }
}

/// One method of one path.
struct Operation {
    method: &'static str,
    path: &'static str,
    name: &'static str,
    told: &'static str,
    key: Key,
    query: Vec<Value>,
    body: Option<Value>,
    /// What it is answered with where it is not refused.
    answers: Vec<(u16, &'static str, Value)>,
    /// How else it can be refused than every request can.
    refusals: &'static [u16],
}

/// What every request can be refused with.
const ALWAYS: [u16; 4] = [401, 500, 503, 504];
/// What one with a body can be refused with.
const WITH_BODY: [u16; 3] = [400, 408, 413];

/// The document.
pub fn document() -> Value {
    let mut shapes = Shapes::new();
    let mut paths = Map::new();
    for operation in operations::all(&mut shapes) {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        if let Some(path) = path.as_object_mut() {
            path.insert(operation.method.to_owned(), told(operation));
        }
    }
    let keys = Key::ALL.map(|key| {
        let scheme = json!({"type": "http", "scheme": "bearer", "description": key.told()});
        (key.name().to_owned(), scheme)
    });
    json!({
        "openapi": "3.1.1",
        "info": {
            "title": "Actum",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
            "description": "The HTTP door of a kernel: for workers, connectors, and those who decide. It names no action; \
                what a task has is what `GET /v1/task` answers.",
        },
        "servers": [{"url": "http://127.0.0.1:7373", "description": "As the sample listens."}],
        "paths": paths,
        "components": {
            "schemas": shapes.into_definitions(),
            "securitySchemes": Map::from_iter(keys),
            "responses": {"Refusal": refusal()},
        },
    })
}

/// The text of the document: the same for the same version.
///
/// # Errors
/// None; the shape is that of serde's.
pub fn text() -> Result<String, serde_json::Error> {
    let mut document = document();
    document.sort_all_objects();
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn refusal() -> Value {
    json!({
        "description": "It was refused: `code` says of which kind, `reason` why in one word, `message` in a sentence.",
        "headers": caching(),
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}},
    })
}

fn caching() -> Value {
    json!({"cache-control": {"required": true, "schema": {"const": "no-store", "type": "string"}}})
}

fn told(operation: Operation) -> Value {
    let mut responses = Map::new();
    for (status, told, schema) in operation.answers {
        let answer = json!({
            "description": told,
            "headers": caching(),
            "content": {"application/json": {"schema": schema}},
        });
        responses.insert(status.to_string(), answer);
    }
    let with_body: &[u16] = if operation.body.is_some() {
        &WITH_BODY
    } else {
        &[]
    };
    for status in [&ALWAYS, with_body, operation.refusals].concat() {
        let refusal = json!({"$ref": "#/components/responses/Refusal"});
        responses.entry(status.to_string()).or_insert(refusal);
    }
    let in_path = operation.path.split('/').filter_map(|part| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        Some(json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
    });
    let parameters: Vec<Value> = in_path.chain(operation.query).collect();
    let mut told = json!({
        "operationId": operation.name,
        "summary": operation.told,
        "security": [{operation.key.name(): []}],
        "responses": responses,
    });
    if let Some(told) = told.as_object_mut() {
        if !parameters.is_empty() {
            told.insert("parameters".to_owned(), Value::Array(parameters));
        }
        if let Some(schema) = operation.body {
            let body = json!({
                "required": true,
                "content": {"application/json": {"schema": schema}},
            });
            told.insert("requestBody".to_owned(), body);
        }
    }
    told
}
