//! Anthropic: tools of the Messages API.
//!
//! `input_schema` is JSON Schema, and takes nearly all of it. What it does not take is a union at
//! its top, which becomes [one object](super::union).

use serde_json::{Map, Value, json};

use crate::descriptor::ToolDescriptor;

use super::rule::{Faults, Rule, check_name, fields, is_name};
use super::{description, place, union};

const TOOLS: &str = "Anthropic, Define tools: https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools";

const SHAPE: Rule = Rule {
    id: "anthropic.shape",
    says: "A tool is {name, description, input_schema}; the description is a text.",
    source: TOOLS,
};
/// The guide's limit was 64 characters before it became 128. Not every platform that serves the
/// models follows at once, so that the smaller one is kept; no tool name of Actum is longer.
const NAME: Rule = Rule {
    id: "anthropic.name",
    says: "A name matches ^[a-zA-Z0-9_-]{1,64}$; newer editions of the guide say {1,128}.",
    source: TOOLS,
};
const ROOT: Rule = Rule {
    id: "anthropic.root-object",
    says: "The input schema has type `object`.",
    source: TOOLS,
};
const TOP: Rule = Rule {
    id: "anthropic.top-level",
    says: "The input schema has no oneOf, allOf or anyOf at its top level.",
    source: "Anthropic's error message, in https://github.com/anthropics/claude-code/issues/5319",
};
const KEYS: Rule = Rule {
    id: "anthropic.property-names",
    says: "The names of the arguments match ^[a-zA-Z0-9_.-]{1,64}$.",
    source: "Anthropic's error message, in https://github.com/beautyfree/appstore-connect-mcp/issues/2",
};
const JSON_SCHEMA: Rule = Rule {
    id: "anthropic.json-schema",
    says: "The input schema is a JSON Schema, draft 2020-12.",
    source: TOOLS,
};
const REFERENCES: Rule = Rule {
    id: "anthropic.references",
    says: "A `$ref` leads to a definition in the same schema.",
    source: TOOLS,
};
/// Names in one list are unique.
pub(super) const UNIQUE_NAMES: Rule = Rule {
    id: "anthropic.unique-names",
    says: "A name stands once in the list.",
    source: "Anthropic's error message `tools: Tool names must be unique.`, in https://github.com/anthropics/claude-code/issues/10687",
};

/// Every rule above.
pub(super) const RULES: &[&Rule] = &[
    &SHAPE,
    &NAME,
    &ROOT,
    &TOP,
    &KEYS,
    &JSON_SCHEMA,
    &REFERENCES,
    &UNIQUE_NAMES,
];

/// A tool of the Messages API.
pub(super) fn tool(descriptor: &ToolDescriptor, approval_required: bool) -> Value {
    json!({
        "name": descriptor.name,
        "description": description::of_tool(&descriptor.description, approval_required, None),
        "input_schema": input_schema(&descriptor.parameters_schema),
    })
}

fn input_schema(schema: &Value) -> Value {
    match schema.as_object() {
        Some(root) if union::is_union(root) => Value::Object(union::one_object(root)),
        _ => schema.clone(),
    }
}

/// Checks a tool.
pub(super) fn check(tool: &Value, faults: &mut Faults) {
    let must = ["name", "description", "input_schema"];
    let Some(fields) = fields(tool, "", &must, &[], &SHAPE, faults) else {
        return;
    };
    check_name(fields.get("name"), "/name", ("_-", 64), &NAME, faults);
    if fields
        .get("description")
        .is_some_and(|text| !text.is_string())
    {
        faults.add(&SHAPE, "/description", "a description is a text");
    }
    let Some(schema) = fields.get("input_schema") else {
        return;
    };
    let root = schema.as_object();
    if root.and_then(|root| root.get("type")?.as_str()) != Some("object") {
        let problem = "the input schema must have type `object`; take a struct as payload";
        faults.add(&ROOT, "/input_schema", problem);
    }
    for key in ["oneOf", "allOf", "anyOf"] {
        if root.is_some_and(|root| root.contains_key(key)) {
            let problem = format!("`{key}` cannot stand at the top; put it into a property");
            faults.add(&TOP, format!("/input_schema/{key}"), problem);
        }
    }
    let names = root.and_then(|root| root.get("properties")?.as_object());
    for name in names.into_iter().flat_map(Map::keys) {
        if !is_name(name, "_.-", 64) {
            let problem = format!(
                "the argument `{}` is not a name of 1 to 64 ASCII letters, digits, `_`, `.` and `-`; rename it",
                description::clip(name)
            );
            let at = format!("/input_schema/properties/{}", place::escaped(name));
            faults.add(&KEYS, at, problem);
        }
    }
    place::check_json_schema(schema, "/input_schema", (&JSON_SCHEMA, &REFERENCES), faults);
}
