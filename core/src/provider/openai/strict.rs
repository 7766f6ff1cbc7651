//! The rewriting of a schema for structured outputs that keeps its meaning.
//!
//! INVARIANT: what the rewritten schema accepts, the original accepts; and what the original
//! accepts can be said in the rewritten one. The one difference is spelling: a property that may be
//! absent, and that may be `null`, and for which absent and `null` are the same, becomes a required
//! one that may be `null`. Where anything else would have to change there is no rewriting.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::rule::Faults;
use super::super::{description, place};
use super::questions::Questions;
use super::strict_rules;

/// The most schemas that a rewriting may have, with inlined references.
const SCHEMAS: usize = 5_000;

/// String formats that structured outputs take.
const FORMATS: [&str; 9] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "time",
    "uuid",
];

/// Keywords that tell and do not ask; they are told in the description.
const TELLING: [&str; 4] = ["title", "default", "examples", "deprecated"];
/// Keywords without meaning for a call.
const SILENT: [&str; 4] = ["$comment", "$schema", "readOnly", "writeOnly"];

/// The schema as structured outputs take it; `None` where no rewriting keeps its meaning.
pub(super) fn rewritten(schema: &Value) -> Option<Value> {
    let mut writing = Writing {
        root: schema,
        inlining: Vec::new(),
        left: SCHEMAS,
        questions: Questions::new(schema),
    };
    let mut root = writing.schema(schema)?;
    let definitions = writing.definitions(&root)?;
    if !definitions.is_empty() {
        root.as_object_mut()?
            .insert("$defs".to_owned(), json!(definitions));
    }
    let mut faults = Faults::default();
    strict_rules::check(&root, "", &mut faults);
    faults.is_empty().then_some(root)
}

struct Writing<'a> {
    root: &'a Value,
    /// The references that are being inlined, outermost first.
    inlining: Vec<String>,
    left: usize,
    questions: Questions<'a>,
}

impl Writing<'_> {
    /// Every definition that the schema uses, directly or through others.
    fn definitions(&mut self, schema: &Value) -> Option<BTreeMap<String, Value>> {
        let mut found = BTreeMap::new();
        let mut open = vec![schema.clone()];
        while let Some(schema) = open.pop() {
            for (_, inner) in place::all(&schema, "") {
                let Some(reference) = inner.as_object().and_then(place::reference) else {
                    continue;
                };
                if reference == "#" {
                    continue;
                }
                let name = place::definition(reference)?;
                if found.contains_key(&name) {
                    continue;
                }
                let target = place::target(self.root, reference)?;
                let written = self.schema(target)?;
                found.insert(name, written.clone());
                open.push(written);
            }
        }
        Some(found)
    }

    fn schema(&mut self, schema: &Value) -> Option<Value> {
        self.left = self.left.checked_sub(1)?;
        let mut schema = schema.as_object()?.clone();
        for key in SILENT {
            schema.remove(key);
        }
        schema.remove("$defs");
        let mut told = description::sentences(&schema, &["deprecated", "default", "examples"]);
        if !schema.contains_key("description") {
            told.splice(0..0, description::sentences(&schema, &["title"]));
        }
        for key in TELLING {
            schema.remove(key);
        }
        // JSON Schema has `format` as a remark, so that dropping an unknown one changes nothing.
        if let Some(format) = schema.get("format").and_then(Value::as_str)
            && !FORMATS.contains(&format)
        {
            told.extend(description::sentences(&schema, &["format"]));
            schema.remove("format");
        }
        description::tell(&mut schema, &told);

        if schema.contains_key("$ref") {
            return self.referring(&schema);
        }
        if schema.contains_key("anyOf") || schema.contains_key("oneOf") {
            return self.union(schema);
        }
        fixed_type(&mut schema)?;
        if place::has_type(&schema, "object") {
            self.object(&mut schema)?;
        }
        if place::has_type(&schema, "array") {
            self.array(&mut schema)?;
        }
        Some(Value::Object(schema))
    }

    /// A reference stands alone; one with a description is inlined, so that its text is kept.
    fn referring(&mut self, schema: &Map<String, Value>) -> Option<Value> {
        if schema
            .keys()
            .any(|key| key != "$ref" && key != "description")
        {
            return None;
        }
        let reference = place::reference(schema)?.to_owned();
        let target = place::target(self.root, &reference)?.clone();
        let alone = json!({"$ref": reference});
        let Some(text) = schema.get("description") else {
            return Some(alone);
        };
        if reference == "#" || self.inlining.contains(&reference) {
            return Some(alone);
        }
        self.inlining.push(reference);
        let written = self.schema(&target);
        self.inlining.pop();
        let mut written = written?;
        let inlined = written.as_object_mut()?;
        if inlined.contains_key("$ref") {
            // The definition is a mere reference itself.
            return Some(written);
        }
        inlined.insert("description".to_owned(), text.clone());
        Some(written)
    }

    /// `oneOf` becomes `anyOf` where no value fits two of its alternatives.
    fn union(&mut self, mut schema: Map<String, Value>) -> Option<Value> {
        if let Some(Value::Array(alternatives)) = schema.remove("oneOf") {
            if schema.contains_key("anyOf") || !self.questions.all_apart(&alternatives) {
                return None;
            }
            schema.insert("anyOf".to_owned(), Value::Array(alternatives));
        }
        if schema
            .keys()
            .any(|key| key != "anyOf" && key != "description")
        {
            return None;
        }
        let alternatives = schema.get("anyOf")?.as_array()?.clone();
        let written: Option<Vec<_>> = alternatives
            .iter()
            .map(|inner| self.schema(inner))
            .collect();
        schema.insert("anyOf".to_owned(), Value::Array(written?));
        Some(Value::Object(schema))
    }

    fn object(&mut self, schema: &mut Map<String, Value>) -> Option<()> {
        let closed = ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .filter_map(|key| schema.remove(*key))
            .collect::<Vec<_>>();
        if closed.is_empty() || closed.iter().any(|value| *value != Value::Bool(false)) {
            return None;
        }
        let properties = match schema.remove("properties") {
            Some(Value::Object(properties)) => properties,
            Some(_) => return None,
            None => Map::new(),
        };
        let required = place::required(schema);
        if !required.iter().all(|name| properties.contains_key(*name)) {
            return None;
        }
        let optional_is_null = properties
            .iter()
            .filter(|(name, _)| !required.contains(&name.as_str()))
            .all(|(_, inner)| self.questions.absent_is_null(inner));
        if !optional_is_null {
            return None;
        }
        let names: Vec<_> = properties.keys().cloned().collect();
        let written: Option<Map<_, _>> = properties
            .into_iter()
            .map(|(name, inner)| Some((name, self.schema(&inner)?)))
            .collect();
        schema.insert("properties".to_owned(), Value::Object(written?));
        schema.insert("required".to_owned(), json!(names));
        schema.insert("additionalProperties".to_owned(), json!(false));
        Some(())
    }

    fn array(&mut self, schema: &mut Map<String, Value>) -> Option<()> {
        let items = match (schema.remove("prefixItems"), schema.remove("items")) {
            (None, Some(items)) => items,
            (Some(Value::Array(positions)), rest) => {
                // A tuple of equal positions, and of nothing else, is a bounded list.
                let (first, others) = positions.split_first()?;
                let most = schema.get("maxItems").and_then(Value::as_u64);
                let length = positions.len() as u64;
                let ends = most.is_some_and(|most| most <= length);
                if others.iter().any(|other| other != first) {
                    return None;
                }
                if !ends {
                    if rest != Some(Value::Bool(false)) {
                        return None;
                    }
                    schema.insert("maxItems".to_owned(), json!(length));
                }
                first.clone()
            }
            _ => return None,
        };
        let items = self.schema(&items)?;
        schema.insert("items".to_owned(), items);
        Some(())
    }
}

/// Gives a schema of fixed values the type that they have, where it names none.
fn fixed_type(schema: &mut Map<String, Value>) -> Option<()> {
    if schema.contains_key("type") {
        return Some(());
    }
    let values = match (schema.get("const"), schema.get("enum")) {
        (Some(value), None) => vec![value],
        (None, Some(Value::Array(values))) => values.iter().collect(),
        _ => return None,
    };
    let mut kinds: Vec<&str> = Vec::new();
    for value in values {
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) | Value::Object(_) => return None,
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let kind = match kinds.as_slice() {
        [] => return None,
        [only] => json!(only),
        several => json!(several),
    };
    schema.insert("type".to_owned(), kind);
    Some(())
}
