//! Gemini's published rules.

use serde_json::{Map, Value};

use super::super::rule::{Faults, Rule, check_name, fields, is_name};
use super::super::{description, place};

const DECLARATION: &str =
    "Gemini API, FunctionDeclaration: https://ai.google.dev/api/caching#FunctionDeclaration";
const SCHEMA: &str = "Gemini API, Schema: https://ai.google.dev/api/caching#Schema";
const VERTEX: &str = "Vertex AI, FunctionDeclaration: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/java/latest/com.google.cloud.vertexai.api.FunctionDeclarationOrBuilder";

const SHAPE: Rule = Rule {
    id: "gemini.shape",
    says: "A declaration is {name, description, parameters?}.",
    source: DECLARATION,
};
const NAME: Rule = Rule {
    id: "gemini.name",
    says: "A name begins with a letter or `_` and has at most 64 characters of a-z, A-Z, 0-9, `_`, `.` and `-`.",
    source: VERTEX,
};
const DESCRIBED: Rule = Rule {
    id: "gemini.description",
    says: "A description is a text, and is required.",
    source: DECLARATION,
};
pub(super) const PARAMETERS: Rule = Rule {
    id: "gemini.parameters",
    says: "Parameters, where there are any, are an OBJECT with at least one property.",
    source: "Gemini's error message, in https://github.com/langchain-ai/langchainjs/pull/7935",
};
const PARAMETER_NAMES: Rule = Rule {
    id: "gemini.parameter-names",
    says: "The name of an argument begins with a letter or `_` and has at most 64 characters of a-z, A-Z, 0-9 and `_`.",
    source: VERTEX,
};
const FIELDS: Rule = Rule {
    id: "gemini.schema-fields",
    says: "A schema has the published fields alone, each of its published type.",
    source: SCHEMA,
};
const TYPED: Rule = Rule {
    id: "gemini.schema-type",
    says: "A schema has one of the published types, unless it has anyOf.",
    source: "Gemini's error message, in https://github.com/danny-avila/LibreChat/issues/6971",
};
const ANY_OF: Rule = Rule {
    id: "gemini.any-of-alone",
    says: "A schema with anyOf has no other field.",
    source: "Gemini's error message, in https://github.com/vercel/ai/pull/19000",
};
const PROPERTIES: Rule = Rule {
    id: "gemini.properties",
    says: "An OBJECT alone has properties, and where it names any there is at least one.",
    source: "Gemini's error message, in https://github.com/anomalyco/opencode/pull/11888 and https://github.com/brainlid/langchain/pull/183",
};
const REQUIRED: Rule = Rule {
    id: "gemini.required",
    says: "What is required is among the properties.",
    source: "Gemini's error message, in https://github.com/Kilo-Org/kilocode/pull/11955",
};
const ITEMS: Rule = Rule {
    id: "gemini.items",
    says: "An ARRAY, and nothing else, has items.",
    source: "Gemini's error message, in https://github.com/anomalyco/opencode/pull/49392",
};
const ENUM: Rule = Rule {
    id: "gemini.enum",
    says: "An enum is a list of texts, none of them empty, of a STRING with format `enum`.",
    source: SCHEMA,
};
const FORMAT: Rule = Rule {
    id: "gemini.format",
    says: "A format is float or double for NUMBER, int32 or int64 for INTEGER, enum or date-time for STRING.",
    source: SCHEMA,
};
/// Names in one list are unique.
pub(in super::super) const UNIQUE_NAMES: Rule = Rule {
    id: "gemini.unique-names",
    says: "A name stands once in the list; a call names its function by it alone.",
    source: DECLARATION,
};
const TOOL_COUNT: Rule = Rule {
    id: "gemini.tool-count",
    says: "A request has at most 128 function declarations.",
    source: "Vertex AI, Function calling, Limitations: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/function-calling",
};
/// How many declarations a list may have.
pub(in super::super) const MOST_TOOLS: (&Rule, usize) = (&TOOL_COUNT, 128);

/// Every rule above.
pub(in super::super) const RULES: &[&Rule] = &[
    &SHAPE,
    &NAME,
    &DESCRIBED,
    &PARAMETERS,
    &PARAMETER_NAMES,
    &FIELDS,
    &TYPED,
    &ANY_OF,
    &PROPERTIES,
    &REQUIRED,
    &ITEMS,
    &ENUM,
    &FORMAT,
    &UNIQUE_NAMES,
    &TOOL_COUNT,
];

/// Checks a function declaration.
pub(in super::super) fn check(tool: &Value, faults: &mut Faults) {
    let must = ["name", "description"];
    let Some(fields) = fields(tool, "", &must, &["parameters"], &SHAPE, faults) else {
        return;
    };
    let name = fields.get("name");
    check_name(name, "/name", ("_.-", 64), &NAME, faults);
    if let Some(name) = name.and_then(Value::as_str)
        && name.starts_with(|c: char| !c.is_ascii_alphabetic() && c != '_')
    {
        let problem = format!(
            "`{}` does not begin with a letter or `_`; rename the action",
            description::clip(name)
        );
        faults.add(&NAME, "/name", problem);
    }
    if let Some(text) = fields.get("description")
        && text.as_str().is_none_or(|text| text.trim().is_empty())
    {
        faults.add(&DESCRIBED, "/description", "say what the tool does");
    }
    let Some(parameters) = fields.get("parameters") else {
        return;
    };
    let at = "/parameters";
    let names = parameters.get("properties").and_then(Value::as_object);
    if parameters.get("type").and_then(Value::as_str) != Some("OBJECT")
        || names.is_none_or(Map::is_empty)
    {
        let problem = "it has no argument with a name; put a map into a field of a struct";
        faults.add(&PARAMETERS, at, problem);
    }
    for name in names.into_iter().flat_map(Map::keys) {
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !begins || !is_name(name, "_", 64) {
            let problem = format!(
                "the argument `{}` is not a name of ASCII letters, digits and `_`, at most 64, no digit first; rename it",
                description::clip(name)
            );
            let at = format!("{at}/properties/{}", place::escaped(name));
            faults.add(&PARAMETER_NAMES, at, problem);
        }
    }
    for (at, schema) in place::all(parameters, at) {
        match schema.as_object() {
            Some(schema) => check_schema(schema, &at, faults),
            None => faults.add(&FIELDS, at, "a schema is an object"),
        }
    }
}

fn check_schema(schema: &Map<String, Value>, at: &str, faults: &mut Faults) {
    check_fields(schema, at, faults);
    if let Some(alternatives) = schema.get("anyOf") {
        if schema.len() > 1 {
            let problem = "move the other fields into the alternatives";
            faults.add(&ANY_OF, at, problem);
        }
        if alternatives.as_array().is_none_or(Vec::is_empty) {
            faults.add(&FIELDS, format!("{at}/anyOf"), "it is a list of schemas");
        }
        return;
    }
    let kind = schema
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let kinds = [
        "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL",
    ];
    if !kinds.contains(&kind) {
        let problem = format!("the type is one of {}", kinds.join(", "));
        faults.add(&TYPED, at, problem);
    }
    check_properties(schema, kind, at, faults);
    if (kind == "ARRAY") != schema.contains_key("items") {
        faults.add(&ITEMS, at, "an ARRAY has items, nothing else has");
    }
    let format = schema.get("format").and_then(Value::as_str);
    if let Some(values) = schema.get("enum") {
        let texts = values.as_array().is_some_and(|values| {
            !values.is_empty()
                && values
                    .iter()
                    .all(|value| value.as_str().is_some_and(|text| !text.is_empty()))
        });
        if !texts || kind != "STRING" || format != Some("enum") {
            let problem = "an enum lists texts that are not empty, of a STRING with format `enum`";
            faults.add(&ENUM, format!("{at}/enum"), problem);
        }
    }
    let formats: &[&str] = match kind {
        "NUMBER" => &["float", "double"],
        "INTEGER" => &["int32", "int64"],
        "STRING" => &["enum", "date-time"],
        _ => &[],
    };
    if let Some(format) = format
        && !formats.contains(&format)
    {
        let problem = format!(
            "the format `{}` is not taken here",
            description::clip(format)
        );
        faults.add(&FORMAT, format!("{at}/format"), problem);
    }
}

fn check_properties(schema: &Map<String, Value>, kind: &str, at: &str, faults: &mut Faults) {
    let properties = schema.get("properties").and_then(Value::as_object);
    if schema.contains_key("properties")
        && (kind != "OBJECT" || properties.is_none_or(Map::is_empty))
    {
        let problem = "an OBJECT names at least one property, or has no `properties`";
        faults.add(&PROPERTIES, format!("{at}/properties"), problem);
    }
    for name in place::required(schema) {
        if !properties.is_some_and(|properties| properties.contains_key(name)) {
            let problem = format!("`{}` is not among the properties", description::clip(name));
            faults.add(&REQUIRED, format!("{at}/required"), problem);
        }
    }
}

/// The published fields, each with its published JSON type. An int64 is written as a text.
fn check_fields(schema: &Map<String, Value>, at: &str, faults: &mut Faults) {
    for (key, value) in schema {
        let fits = match key.as_str() {
            "type" | "format" | "title" | "description" | "pattern" => value.is_string(),
            "nullable" => value.is_boolean(),
            "minimum" | "maximum" => value.is_number(),
            "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties"
            | "maxProperties" => value
                .as_str()
                .is_some_and(|text| text.parse::<i64>().is_ok_and(|count| count >= 0)),
            "enum" | "required" | "propertyOrdering" => value
                .as_array()
                .is_some_and(|list| list.iter().all(Value::is_string)),
            "properties" | "items" => value.is_object(),
            "anyOf" => value.is_array(),
            "default" | "example" => true,
            _ => {
                let problem = format!("there is no field `{}`", description::clip(key));
                faults.add(&FIELDS, format!("{at}/{}", place::escaped(key)), problem);
                continue;
            }
        };
        if !fits {
            let problem = format!("`{key}` is not of its published type");
            faults.add(&FIELDS, format!("{at}/{key}"), problem);
        }
    }
}
