//! OpenAI's published rules.

use serde_json::{Map, Value};

use super::super::place;
use super::super::rule::{Faults, Rule, check_name, fields};
use super::{DESCRIPTION, strict_rules};

const REFERENCE: &str =
    "OpenAI API reference, Chat: https://platform.openai.com/docs/api-reference/chat/create";
const FUNCTIONS: &str =
    "OpenAI, Function calling: https://platform.openai.com/docs/guides/function-calling";
const STRUCTURED: &str = "OpenAI, Structured outputs, Supported schemas: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas";

const SHAPE: Rule = Rule {
    id: "openai.shape",
    says: "A tool is {type: \"function\", name, description, parameters, strict}; Chat Completions nests all but the type under `function`.",
    source: FUNCTIONS,
};
const NAME: Rule = Rule {
    id: "openai.name",
    says: "A name has 1 to 64 characters of a-z, A-Z, 0-9, `_` and `-`.",
    source: REFERENCE,
};
const DESCRIBED: Rule = Rule {
    id: "openai.description",
    says: "A description is a text of at most 1024 characters.",
    source: "OpenAI's error message, in https://github.com/getsentry/sentry-mcp/issues/106",
};
const ROOT: Rule = Rule {
    id: "openai.root-object",
    says: "Parameters have type `object`, and no oneOf, anyOf, allOf, enum or not at their top.",
    source: "OpenAI's error message, in https://github.com/langchain-ai/langchainjs/issues/9804",
};
const JSON_SCHEMA: Rule = Rule {
    id: "openai.json-schema",
    says: "Parameters are a JSON Schema object.",
    source: REFERENCE,
};
const REFERENCES: Rule = Rule {
    id: "openai.references",
    says: "A `$ref` leads to a definition in the same schema.",
    source: STRUCTURED,
};
const PROPERTIES: Rule = Rule {
    id: "openai.properties",
    says: "An object schema has `properties`.",
    source: "OpenAI's error message, in https://github.com/spring-projects/spring-ai/issues/4776",
};
const ITEMS: Rule = Rule {
    id: "openai.items",
    says: "An array schema has `items`.",
    source: "OpenAI's error message, in https://github.com/sigoden/aichat/pull/1049",
};
const ONE_OF: Rule = Rule {
    id: "openai.one-of",
    says: "`oneOf` is not permitted; `anyOf` is.",
    source: "OpenAI's error message, in https://github.com/can1357/oh-my-pi/issues/920",
};
/// Names in one list are unique.
pub(in super::super) const UNIQUE_NAMES: Rule = Rule {
    id: "openai.unique-names",
    says: "A name stands once in the list; a call names its tool by it alone.",
    source: FUNCTIONS,
};
const TOOL_COUNT: Rule = Rule {
    id: "openai.tool-count",
    says: "A list has at most 128 tools.",
    source: REFERENCE,
};
/// How many tools a list may have.
pub(in super::super) const MOST_TOOLS: (&Rule, usize) = (&TOOL_COUNT, 128);

/// Every rule above.
pub(in super::super) const RULES: &[&Rule] = &[
    &SHAPE,
    &NAME,
    &DESCRIBED,
    &ROOT,
    &JSON_SCHEMA,
    &REFERENCES,
    &PROPERTIES,
    &ITEMS,
    &ONE_OF,
    &strict_rules::KEYWORDS,
    &strict_rules::TYPED,
    &strict_rules::ALONE,
    &strict_rules::CLOSED,
    &strict_rules::ALL_REQUIRED,
    &strict_rules::FORMATS,
    &strict_rules::FIRST_KEY,
    &strict_rules::DEPTH,
    &strict_rules::PROPERTY_COUNT,
    &strict_rules::TEXT,
    &strict_rules::ENUM_COUNT,
    &strict_rules::ENUM_TEXT,
    &UNIQUE_NAMES,
    &TOOL_COUNT,
];

/// Checks a tool of Chat Completions.
pub(in super::super) fn check_chat(tool: &Value, faults: &mut Faults) {
    if let Some(fields) = fields(tool, "", &["type", "function"], &[], &SHAPE, faults) {
        check_type(fields, faults);
        if let Some(function) = fields.get("function") {
            check_function(function, "/function", &[], faults);
        }
    }
}

/// Checks a tool of Responses.
pub(in super::super) fn check_responses(tool: &Value, faults: &mut Faults) {
    if let Some(fields) = tool.as_object() {
        check_type(fields, faults);
    }
    check_function(tool, "", &["type"], faults);
}

fn check_type(fields: &Map<String, Value>, faults: &mut Faults) {
    if fields.get("type").and_then(Value::as_str) != Some("function") {
        faults.add(&SHAPE, "/type", "the type must be `function`");
    }
}

fn check_function(function: &Value, at: &str, may: &[&str], faults: &mut Faults) {
    let must = ["name", "description", "parameters", "strict"];
    let Some(fields) = fields(function, at, &must, may, &SHAPE, faults) else {
        return;
    };
    check_name(
        fields.get("name"),
        &format!("{at}/name"),
        ("_-", 64),
        &NAME,
        faults,
    );
    match fields.get("description") {
        Some(Value::String(text)) => {
            let length = text.chars().count();
            if length > DESCRIPTION {
                let problem = format!(
                    "the description has {length} characters; shorten it to at most {DESCRIPTION}"
                );
                faults.add(&DESCRIBED, format!("{at}/description"), problem);
            }
        }
        Some(_) => faults.add(
            &DESCRIBED,
            format!("{at}/description"),
            "a description is a text",
        ),
        None => {}
    }
    let strict = fields.get("strict");
    if strict.is_some_and(|strict| !strict.is_boolean()) {
        faults.add(&SHAPE, format!("{at}/strict"), "strict is true or false");
    }
    if let Some(parameters) = fields.get("parameters") {
        let at = format!("{at}/parameters");
        check_parameters(parameters, &at, faults);
        if strict == Some(&Value::Bool(true)) {
            strict_rules::check(parameters, &at, faults);
        }
    }
}

fn check_parameters(parameters: &Value, at: &str, faults: &mut Faults) {
    let root = parameters.as_object();
    if root.and_then(|root| root.get("type")?.as_str()) != Some("object") {
        faults.add(
            &ROOT,
            at,
            "the parameters must have type `object`; take a struct as payload",
        );
    }
    for key in ["oneOf", "anyOf", "allOf", "enum", "not"] {
        if root.is_some_and(|root| root.contains_key(key)) {
            let problem = format!("`{key}` cannot stand at the top; put it into a property");
            faults.add(&ROOT, format!("{at}/{key}"), problem);
        }
    }
    place::check_json_schema(parameters, at, (&JSON_SCHEMA, &REFERENCES), faults);
    for (at, schema) in place::all(parameters, at) {
        let Some(schema) = schema.as_object() else {
            continue;
        };
        if place::has_type(schema, "object") && !schema.contains_key("properties") {
            faults.add(&PROPERTIES, at.as_str(), "an object needs `properties`");
        }
        if place::has_type(schema, "array") && !schema.contains_key("items") {
            faults.add(&ITEMS, at.as_str(), "an array needs `items`");
        }
        if schema.contains_key("oneOf") {
            faults.add(&ONE_OF, format!("{at}/oneOf"), "write `anyOf` instead");
        }
    }
}
