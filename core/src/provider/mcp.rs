//! Model Context Protocol: an entry of `tools/list`.
//!
//! Both schemas are JSON Schema as it is. The hints carry over; only what an action promises is
//! told, and a hint that is absent has the meaning that the protocol gives it.
//!
//! Up to revision 2025-11-25 `structuredContent` is an object, and so is what `outputSchema`
//! describes; later revisions lift that. A result that is not an object is wrapped as
//! `{"result": ...}`, in the schema and, by [`structured`], in the value: every client can take it.
//!
//! A call that waits for approval is answered, too, and clients hold that answer against `outputSchema`: there it is one of
//! two alternatives. A result of [`Content`](crate::content::Content) has blocks and no schema.

use serde_json::{Map, Value, json};

use crate::content::is_content;
use crate::descriptor::ToolDescriptor;

use super::rule::{Faults, Rule, check_name, fields};
use super::{description, place};

const TOOLS: &str = "Model Context Protocol 2025-11-25, Tools: https://modelcontextprotocol.io/specification/2025-11-25/server/tools";
const SCHEMA: &str = "Model Context Protocol 2025-11-25, Schema Reference: https://modelcontextprotocol.io/specification/2025-11-25/schema#tool";
const REVISION: &str = "Model Context Protocol 2026-07-28, Tools: https://modelcontextprotocol.io/specification/2026-07-28/server/tools";

const SHAPE: Rule = Rule {
    id: "mcp.shape",
    says: "A tool is {name, title?, description, inputSchema, outputSchema?, annotations?}; title and description are texts.",
    source: SCHEMA,
};
const NAME: Rule = Rule {
    id: "mcp.name",
    says: "A name has 1 to 128 characters of A-Z, a-z, 0-9, `_`, `-` and `.`.",
    source: TOOLS,
};
const INPUT: Rule = Rule {
    id: "mcp.input-object",
    says: "The input schema has type `object`.",
    source: SCHEMA,
};
const OUTPUT: Rule = Rule {
    id: "mcp.output-object",
    says: "The output schema has type `object`.",
    source: SCHEMA,
};
const JSON_SCHEMA: Rule = Rule {
    id: "mcp.json-schema",
    says: "A schema without `$schema` is a valid JSON Schema 2020-12.",
    source: TOOLS,
};
const REFERENCES: Rule = Rule {
    id: "mcp.references",
    says: "A `$ref` leads to a definition in the same schema; clients fetch no other.",
    source: REVISION,
};
const ANNOTATIONS: Rule = Rule {
    id: "mcp.annotations",
    says: "Annotations are {title?, readOnlyHint?, destructiveHint?, idempotentHint?, openWorldHint?}: a text and booleans.",
    source: SCHEMA,
};
/// Names in one list are unique.
pub(super) const UNIQUE_NAMES: Rule = Rule {
    id: "mcp.unique-names",
    says: "A name is unique within a server.",
    source: TOOLS,
};

/// Every rule above.
pub(super) const RULES: &[&Rule] = &[
    &SHAPE,
    &NAME,
    &INPUT,
    &OUTPUT,
    &JSON_SCHEMA,
    &REFERENCES,
    &ANNOTATIONS,
    &UNIQUE_NAMES,
];

/// The dialect of input schemas. Revisions before 2025-11-25 have no default. Output schemas do not name it: clients hold
/// results against those, some with validators that refuse a dialect by its name.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The one field of a wrapped result.
const RESULT: &str = "result";

/// An entry of `tools/list`.
pub(super) fn tool(descriptor: &ToolDescriptor, approval_required: bool) -> Value {
    let mut tool = Map::new();
    let mut annotations = Map::new();
    tool.insert("name".to_owned(), json!(descriptor.name));
    if let Some(title) = &descriptor.title {
        tool.insert("title".to_owned(), json!(title));
        // Where clients of revision 2025-03-26 look for it.
        annotations.insert("title".to_owned(), json!(title));
    }
    let text = description::of_tool(&descriptor.description, approval_required, None);
    tool.insert("description".to_owned(), json!(text));
    let mut input = descriptor.parameters_schema.clone();
    if let Some(input) = input.as_object_mut() {
        input.insert("$schema".to_owned(), json!(DIALECT));
    }
    tool.insert("inputSchema".to_owned(), input);
    let output = descriptor.output_schema.as_ref();
    if let Some(schema) = output.filter(|schema| !is_content(schema)) {
        let schema = match describes_an_object(schema) {
            true => schema.clone(),
            false => wrapped(schema),
        };
        let schema = match approval_required {
            true => or_waits(&schema),
            false => schema,
        };
        tool.insert("outputSchema".to_owned(), schema);
    }
    let hints = descriptor.hints;
    for (name, promised) in [
        ("readOnlyHint", hints.read_only),
        ("destructiveHint", hints.destructive),
        ("idempotentHint", hints.idempotent),
        ("openWorldHint", hints.open_world),
    ] {
        if promised {
            annotations.insert(name.to_owned(), json!(true));
        }
    }
    if !annotations.is_empty() {
        tool.insert("annotations".to_owned(), Value::Object(annotations));
    }
    Value::Object(tool)
}

/// The `structuredContent` of a result, an object always: the result itself where the tool's
/// `outputSchema` is the descriptor's own, `{"result": ...}` where it is wrapped. Without an output
/// schema an object stays as it is and anything else is wrapped.
#[must_use]
pub fn structured(descriptor: &ToolDescriptor, result: Value) -> Value {
    let plain = match &descriptor.output_schema {
        Some(schema) => describes_an_object(schema),
        None => result.is_object(),
    };
    if plain {
        result
    } else {
        json!({RESULT: result})
    }
}

fn describes_an_object(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

/// An object with the schema as its one field.
fn wrapped(schema: &Value) -> Value {
    within(schema, &format!("#/properties/{RESULT}"), |inner| {
        json!({
            "type": "object",
            "properties": {RESULT: inner},
            "required": [RESULT],
            "additionalProperties": false,
        })
    })
}

/// What the schema describes, or the answer that the call waits.
fn or_waits(schema: &Value) -> Value {
    within(schema, "#/anyOf/0", |inner| {
        let waits = json!({
            "description": "The call waits for the owner's approval.",
            "type": "object",
            "properties": {
                "decision": {"const": "approval_required"},
                "request_id": {"type": "string"},
                "resource": {"type": "string", "description": "The resource that tells what became of it."},
            },
            "required": ["decision", "request_id", "resource"],
            "additionalProperties": false,
        });
        json!({"type": "object", "anyOf": [inner, waits]})
    })
}

/// A schema at another place, within another one. Definitions stay at the root, where references look for them; a
/// reference to the root, or into it, follows the schema to its new place.
fn within(schema: &Value, place: &str, outer: impl FnOnce(Value) -> Value) -> Value {
    let mut inner = schema.clone();
    let definitions = inner
        .as_object_mut()
        .and_then(|inner| inner.remove("$defs"));
    follow(&mut inner, place);
    let mut outer = outer(inner);
    if let (Some(outer), Some(mut definitions)) = (outer.as_object_mut(), definitions) {
        if let Some(definitions) = definitions.as_object_mut() {
            for definition in definitions.values_mut() {
                follow(definition, place);
            }
        }
        outer.insert("$defs".to_owned(), definitions);
    }
    outer
}

/// Turns references to the old root into references to where it moved.
fn follow(schema: &mut Value, moved: &str) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    if let Some(Value::String(reference)) = object.get_mut("$ref")
        && let Some(place) = reference.strip_prefix('#')
        && !place.starts_with("/$defs/")
    {
        *reference = format!("{moved}{place}");
    }
    place::change_inner(object, |inner| follow(inner, moved));
}

/// Checks an entry of `tools/list`.
pub(super) fn check(tool: &Value, faults: &mut Faults) {
    let must = ["name", "description", "inputSchema"];
    let may = ["title", "outputSchema", "annotations"];
    let Some(fields) = fields(tool, "", &must, &may, &SHAPE, faults) else {
        return;
    };
    check_name(fields.get("name"), "/name", ("_-.", 128), &NAME, faults);
    for key in ["title", "description"] {
        if fields.get(key).is_some_and(|text| !text.is_string()) {
            faults.add(&SHAPE, format!("/{key}"), format!("the {key} is a text"));
        }
    }
    for (key, rule) in [("inputSchema", &INPUT), ("outputSchema", &OUTPUT)] {
        let Some(schema) = fields.get(key) else {
            continue;
        };
        let at = format!("/{key}");
        if !describes_an_object(schema) {
            let problem = "it must have type `object`; take a struct as payload";
            faults.add(rule, at.as_str(), problem);
        }
        if schema
            .get("$schema")
            .is_none_or(|dialect| dialect == DIALECT)
        {
            place::check_json_schema(schema, &at, (&JSON_SCHEMA, &REFERENCES), faults);
        }
    }
    if let Some(annotations) = fields.get("annotations") {
        check_annotations(annotations, faults);
    }
}

fn check_annotations(annotations: &Value, faults: &mut Faults) {
    let may = [
        "title",
        "readOnlyHint",
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
    ];
    let at = "/annotations";
    let Some(fields) = fields(annotations, at, &[], &may, &ANNOTATIONS, faults) else {
        return;
    };
    for (key, value) in fields {
        let fits = if key == "title" {
            value.is_string()
        } else {
            value.is_boolean() || !may.contains(&key.as_str())
        };
        if !fits {
            let problem = "a title is a text, a hint is true or false";
            faults.add(&ANNOTATIONS, format!("{at}/{key}"), problem);
        }
    }
}
