//! OpenAI's published rules for tools with `strict`: those of structured outputs.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::rule::{Faults, Rule};
use super::super::{description, place};

const STRUCTURED: &str = "OpenAI, Structured outputs, Supported schemas: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas";

pub(super) const KEYWORDS: Rule = Rule {
    id: "openai.strict-keywords",
    says: "With `strict`, a schema uses the supported keywords alone.",
    source: STRUCTURED,
};
pub(super) const TYPED: Rule = Rule {
    id: "openai.strict-type",
    says: "With `strict`, a schema has a type, or is an anyOf or a reference.",
    source: "OpenAI's error message, in https://github.com/can1357/oh-my-pi/issues/211",
};
pub(super) const ALONE: Rule = Rule {
    id: "openai.strict-reference",
    says: "With `strict`, a `$ref` has no other keyword beside it.",
    source: "OpenAI's error message, in https://github.com/camel-ai/camel/issues/3001",
};
pub(super) const CLOSED: Rule = Rule {
    id: "openai.strict-closed",
    says: "With `strict`, every object has `additionalProperties: false`.",
    source: STRUCTURED,
};
pub(super) const ALL_REQUIRED: Rule = Rule {
    id: "openai.strict-required",
    says: "With `strict`, every property is required.",
    source: STRUCTURED,
};
pub(super) const FORMATS: Rule = Rule {
    id: "openai.strict-format",
    says: "With `strict`, a format is one of date, date-time, duration, email, hostname, ipv4, ipv6, time and uuid.",
    source: STRUCTURED,
};
pub(super) const FIRST_KEY: Rule = Rule {
    id: "openai.strict-first-key",
    says: "With `strict`, objects in an anyOf do not share their first property, unless it tells them apart.",
    source: "OpenAI's error message, in https://zenn.dev/nicopin/scraps/a8d8f53f5faebb",
};
pub(super) const DEPTH: Rule = Rule {
    id: "openai.strict-depth",
    says: "With `strict`, at most 10 levels nest.",
    source: STRUCTURED,
};
pub(super) const PROPERTY_COUNT: Rule = Rule {
    id: "openai.strict-property-count",
    says: "With `strict`, a schema has at most 5000 properties.",
    source: STRUCTURED,
};
pub(super) const TEXT: Rule = Rule {
    id: "openai.strict-text",
    says: "With `strict`, the names of properties and definitions and the values of enums and consts have at most 120000 characters together.",
    source: STRUCTURED,
};
pub(super) const ENUM_COUNT: Rule = Rule {
    id: "openai.strict-enum-count",
    says: "With `strict`, a schema has at most 1000 enum values.",
    source: STRUCTURED,
};
pub(super) const ENUM_TEXT: Rule = Rule {
    id: "openai.strict-enum-text",
    says: "With `strict`, an enum of more than 250 texts has at most 15000 characters.",
    source: STRUCTURED,
};
/// The keywords of structured outputs. `minLength` and `maxLength` are not among the published ones
/// and were refused (<https://github.com/jina-ai/node-DeepResearch/issues/79>); a tool that has them is
/// sent without `strict`, which is never refused.
const SUPPORTED: [&str; 19] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "required",
];

/// Checks parameters against the rules of structured outputs.
pub(super) fn check(parameters: &Value, at: &str, faults: &mut Faults) {
    let mut total = Total::default();
    for (at, schema) in place::all(parameters, at) {
        let Some(object) = schema.as_object() else {
            if !at.ends_with("/additionalProperties") {
                faults.add(&TYPED, at, "a schema is an object here");
            }
            continue;
        };
        check_keywords(object, &at, faults);
        if place::has_type(object, "object") {
            check_object(object, &at, faults);
        }
        check_first_keys(parameters, object, &at, faults);
        total.count(object, &at, faults);
    }
    if levels(parameters, parameters, &mut BTreeMap::new()) > 10 {
        faults.add(&DEPTH, at, "it nests more than 10 levels; make it flatter");
    }
    total.check(at, faults);
}

fn check_keywords(schema: &Map<String, Value>, at: &str, faults: &mut Faults) {
    for key in schema.keys() {
        if key != "type" && !SUPPORTED.contains(&key.as_str()) {
            let problem = format!("`{}` is not supported", description::clip(key));
            faults.add(&KEYWORDS, format!("{at}/{}", place::escaped(key)), problem);
        }
    }
    if schema.contains_key("$ref") {
        if schema.keys().any(|key| key != "$ref") {
            faults.add(&ALONE, at, "a reference stands alone");
        }
    } else if !schema.contains_key("type") && !schema.contains_key("anyOf") {
        faults.add(&TYPED, at, "the schema needs a `type`");
    }
    if let Some(format) = schema.get("format").and_then(Value::as_str)
        && !FORMATS.says.contains(&format!(" {format}"))
    {
        let problem = format!(
            "the format `{}` is not supported",
            description::clip(format)
        );
        faults.add(&FORMATS, format!("{at}/format"), problem);
    }
}

fn check_object(schema: &Map<String, Value>, at: &str, faults: &mut Faults) {
    if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        faults.add(&CLOSED, at, "it needs `additionalProperties: false`");
    }
    let required = place::required(schema);
    for name in names(schema) {
        if !required.contains(&name.as_str()) {
            let problem = format!(
                "the property `{}` must be required",
                description::clip(name)
            );
            faults.add(&ALL_REQUIRED, format!("{at}/required"), problem);
        }
    }
}

fn names(schema: &Map<String, Value>) -> impl Iterator<Item = &String> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::keys)
}

/// A schema, or what it refers to.
fn referred<'a>(root: &'a Value, schema: &'a Value) -> Option<&'a Map<String, Value>> {
    let object = schema.as_object()?;
    match place::reference(object) {
        Some(reference) => place::target(root, reference)?.as_object(),
        None => Some(object),
    }
}

fn check_first_keys(root: &Value, schema: &Map<String, Value>, at: &str, faults: &mut Faults) {
    let Some(Value::Array(alternatives)) = schema.get("anyOf") else {
        return;
    };
    let mut firsts: Vec<(&String, Option<Vec<&Value>>)> = Vec::new();
    for alternative in alternatives {
        let Some(object) = referred(root, alternative) else {
            continue;
        };
        let Some(name) = names(object).next() else {
            continue;
        };
        let inner = object.get("properties").and_then(|all| all.get(name));
        let fixed = inner.and_then(|inner| match (inner.get("const"), inner.get("enum")) {
            (Some(value), _) => Some(vec![value]),
            (None, Some(Value::Array(values))) => Some(values.iter().collect()),
            _ => None,
        });
        let clash = firsts.iter().any(|(known, values)| {
            *known == name
                && match (values, &fixed) {
                    (Some(some), Some(others)) => some.iter().any(|value| others.contains(value)),
                    _ => true,
                }
        });
        if clash {
            let problem = format!("two alternatives begin with `{}`", description::clip(name));
            faults.add(&FIRST_KEY, format!("{at}/anyOf"), problem);
            return;
        }
        firsts.push((name, fixed));
    }
}

/// How many objects and arrays nest, references followed. The guide does not say whether a list is
/// a level; here it is one, which errs on the side that is never refused.
///
/// `known` holds what is found below each reference; one that is still being followed leads back to
/// itself and adds nothing.
fn levels<'a>(root: &'a Value, schema: &'a Value, known: &mut BTreeMap<&'a str, usize>) -> usize {
    let Some(object) = schema.as_object() else {
        return 0;
    };
    let referred = place::reference(object).map_or(0, |reference| {
        if let Some(levels) = known.get(reference) {
            return *levels;
        }
        known.insert(reference, 0);
        let below = place::target(root, reference).map_or(0, |target| levels(root, target, known));
        known.insert(reference, below);
        below
    });
    let nests = place::has_type(object, "object") || place::has_type(object, "array");
    let below = place::inner(object)
        .into_iter()
        .filter(|(at, _)| !at.starts_with("/$defs"))
        .map(|(_, inner)| levels(root, inner, known))
        .max()
        .unwrap_or(0);
    referred.max(below + usize::from(nests))
}

/// What is counted over a whole schema.
#[derive(Default)]
struct Total {
    properties: usize,
    text: usize,
    values: usize,
}

impl Total {
    fn count(&mut self, schema: &Map<String, Value>, at: &str, faults: &mut Faults) {
        let length = |text: &str| text.chars().count();
        for name in names(schema) {
            self.properties += 1;
            self.text += length(name);
        }
        if let Some(Value::Object(definitions)) = schema.get("$defs") {
            self.text += definitions.keys().map(|name| length(name)).sum::<usize>();
        }
        if let Some(Value::String(text)) = schema.get("const") {
            self.text += length(text);
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            let text: usize = values.iter().filter_map(Value::as_str).map(length).sum();
            self.values += values.len();
            self.text += text;
            if values.len() > 250 && text > 15_000 {
                let problem = format!("its {} values have {text} characters", values.len());
                faults.add(&ENUM_TEXT, format!("{at}/enum"), problem);
            }
        }
    }

    fn check(&self, at: &str, faults: &mut Faults) {
        let limits = [
            (&PROPERTY_COUNT, self.properties, 5_000, "properties"),
            (&TEXT, self.text, 120_000, "characters in names and values"),
            (&ENUM_COUNT, self.values, 1_000, "enum values"),
        ];
        for (rule, found, most, what) in limits {
            if found > most {
                faults.add(
                    rule,
                    at,
                    format!("{found} {what}, at most {most} are taken"),
                );
            }
        }
    }
}
