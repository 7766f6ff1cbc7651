//! JSON Schema in the words of Gemini's `Schema`.
//!
//! References are written out. A type that contains itself is written out once more inside itself
//! and then cut: at the cut stands an object of any form, or any value, with the type's name in its
//! description. So the shape is finite, and what the kernel accepts stays sayable at any depth;
//! deeper parts are only described less exactly.

use serde_json::{Map, Value, json};

use super::super::any_of::any_of;
use super::super::rule::{Faults, RuleFault};
use super::super::{description, place, union};
use super::cut::cut;
use super::form::{
    Schema, annotate, anything, counts, either, integer, nullable, number, of_type, string, told,
    values,
};
use super::rules;

/// The most schemas that a shape may have, written out.
const SCHEMAS: usize = 2_000;
/// How deep schemas nest, written out.
const DEPTH: usize = 20;
/// How many references in a row are followed.
const FOLLOWED: usize = 8;

/// Keywords that tell and do not ask.
const TELLING: [&str; 6] = [
    "$comment",
    "default",
    "deprecated",
    "description",
    "examples",
    "title",
];

/// Why a schema is not written.
enum Stop {
    /// It is too large, or nests too deeply, written out.
    TooLarge,
    /// A reference leads nowhere.
    Lost(String),
}

/// The parameters of a declaration; `None` for a function without arguments.
pub(super) fn parameters(schema: &Value) -> Result<Option<Value>, Vec<RuleFault>> {
    let refused = |rule, problem: String| {
        let mut faults = Faults::default();
        faults.add(rule, "/parameters_schema", problem);
        Err(faults.into())
    };
    let Some(root) = schema
        .as_object()
        .filter(|root| place::has_type(root, "object"))
    else {
        let problem = "it must have type `object`; take a struct as payload";
        return refused(&rules::PARAMETERS, problem.to_owned());
    };
    let root = if union::is_union(root) {
        union::one_object(root)
    } else {
        root.clone()
    };
    // A type that is cut later tells more, and takes more room.
    for again in [1, 0] {
        let mut writing = Writing {
            root: schema,
            open: vec!["#".to_owned()],
            again,
            left: SCHEMAS,
        };
        match writing.object(&root, 0) {
            Ok(object) => return rooted(&root, object),
            Err(Stop::TooLarge) => {}
            Err(Stop::Lost(reference)) => {
                let problem = format!(
                    "the reference `{}` leads to no schema in here; define it under `$defs`",
                    description::clip(&reference)
                );
                return refused(&place::BOUNDED, problem);
            }
        }
    }
    let problem = format!(
        "without references it has more than {SCHEMAS} schemas or nests more than {DEPTH} of them; use fewer types inside types"
    );
    refused(&place::BOUNDED, problem)
}

/// An object without properties is no parameters at all, unless it takes names that it does not
/// list: that cannot be said, and the checker finds it.
fn rooted(root: &Schema, mut object: Schema) -> Result<Option<Value>, Vec<RuleFault>> {
    let takes_more = match root.get("additionalProperties") {
        None => root.contains_key("patternProperties"),
        Some(more) => *more != Value::Bool(false),
    };
    if !object.contains_key("properties") && !takes_more {
        return Ok(None);
    }
    annotate(root, &mut object);
    object.remove("nullable");
    Ok(Some(Value::Object(object)))
}

struct Writing<'a> {
    root: &'a Value,
    /// The references that are being written out, outermost first.
    open: Vec<String>,
    /// How often a reference is written out inside itself.
    again: usize,
    left: usize,
}

impl Writing<'_> {
    fn any_schema(&mut self, schema: &Value, depth: usize) -> Result<Schema, Stop> {
        match schema.as_object() {
            Some(schema) => self.schema(schema, depth),
            None => Ok(anything()),
        }
    }

    fn schema(&mut self, schema: &Schema, depth: usize) -> Result<Schema, Stop> {
        self.left = self.left.checked_sub(1).ok_or(Stop::TooLarge)?;
        if depth > DEPTH {
            return Err(Stop::TooLarge);
        }
        if let Some(reference) = place::reference(schema) {
            return self.referring(schema, reference, depth);
        }
        let mut written = if schema.contains_key("allOf") {
            let whole = self.whole(schema);
            self.schema(&whole, depth)?
        } else if schema.contains_key("const") || schema.contains_key("enum") {
            values(schema)
        } else if schema.contains_key("anyOf") || schema.contains_key("oneOf") {
            if is_object(schema) {
                self.object(&union::merged(self.root, schema), depth)?
            } else {
                self.alternatives(schema, depth)?
            }
        } else {
            self.typed(schema, depth)?
        };
        if is_object(schema) && place::has_type(schema, "null") {
            nullable(&mut written);
        }
        annotate(schema, &mut written);
        Ok(written)
    }

    /// Writes a reference out, together with what stands beside it.
    fn referring(
        &mut self,
        schema: &Schema,
        reference: &str,
        depth: usize,
    ) -> Result<Schema, Stop> {
        let target =
            place::target(self.root, reference).ok_or_else(|| Stop::Lost(reference.to_owned()))?;
        let written_out = self.open.iter().filter(|open| *open == reference).count();
        if written_out > self.again {
            let mut cut = cut(self.root, target, reference);
            annotate(schema, &mut cut);
            return Ok(cut);
        }
        let mut beside = schema.clone();
        beside.remove("$ref");
        let together = match target.as_object() {
            Some(target) => self.both(target, &beside),
            None => beside,
        };
        self.open.push(reference.to_owned());
        let written = self.schema(&together, depth);
        self.open.pop();
        written
    }

    /// Two schemas that both apply, as one that takes what they take, or more.
    fn both(&self, one: &Schema, other: &Schema) -> Schema {
        let asks = |schema: &Schema| schema.keys().any(|key| !TELLING.contains(&key.as_str()));
        if asks(other) && (is_object_alone(one) || is_object_alone(other)) {
            let mut both = Map::new();
            both.insert("allOf".to_owned(), json!([one, other]));
            let mut merged = union::merged(self.root, &both);
            if let Some(text) = other.get("description") {
                merged.insert("description".to_owned(), text.clone());
            }
            return merged;
        }
        let mut both = one.clone();
        for (key, value) in other {
            if TELLING.contains(&key.as_str()) || !both.contains_key(key) {
                both.insert(key.clone(), value.clone());
            }
        }
        both
    }

    /// A schema with `allOf` as one without.
    fn whole(&self, schema: &Schema) -> Schema {
        let mut whole = schema.clone();
        let parts = match whole.remove("allOf") {
            Some(Value::Array(parts)) => parts,
            _ => return whole,
        };
        let followed: Vec<_> = parts
            .iter()
            .filter_map(|part| self.followed(part))
            .collect();
        if is_object_alone(schema) || followed.iter().any(is_object_alone) {
            return union::merged(self.root, schema);
        }
        for mut part in followed {
            // A part of parts is loosened to what stands beside them.
            part.remove("allOf");
            let said = whole.get("description").cloned();
            whole = self.both(&whole, &part);
            if let Some(said) = said {
                whole.insert("description".to_owned(), said);
            }
        }
        whole
    }

    /// A schema, or what it refers to in a few steps; nothing where that is no object.
    fn followed(&self, schema: &Value) -> Option<Schema> {
        let mut schema = schema;
        for _ in 0..FOLLOWED {
            let object = schema.as_object()?;
            match place::reference(object) {
                Some(reference) => schema = place::target(self.root, reference)?,
                None => return Some(object.clone()),
            }
        }
        None
    }

    /// `anyOf` and `oneOf`: what stands beside them moves into each alternative.
    fn alternatives(&mut self, schema: &Schema, depth: usize) -> Result<Schema, Stop> {
        let mut beside = schema.clone();
        let any = beside.remove("anyOf");
        let listed = match (beside.remove("oneOf"), any) {
            (Some(Value::Array(list)), _) | (_, Some(Value::Array(list))) => list,
            _ => return Ok(anything()),
        };
        for key in TELLING {
            beside.remove(key);
        }
        let mut written = Vec::new();
        for alternative in &listed {
            match alternative {
                Value::Bool(false) => {}
                Value::Object(alternative) => {
                    let both = self.both(alternative, &beside);
                    written.push(self.schema(&both, depth + 1)?);
                }
                _ => written.push(anything()),
            }
        }
        Ok(either(written))
    }

    /// A schema by its types; one that names none has all of them.
    fn typed(&mut self, schema: &Schema, depth: usize) -> Result<Schema, Stop> {
        let Some(types) = place::types(schema) else {
            let asks = |key: &String| !TELLING.contains(&key.as_str());
            if !schema.keys().any(asks) {
                return Ok(anything());
            }
            let all = ["string", "number", "boolean", "array", "object", "null"];
            return self.each(&all, schema, depth);
        };
        self.each(&types, schema, depth)
    }

    fn each(&mut self, types: &[&str], schema: &Schema, depth: usize) -> Result<Schema, Stop> {
        let mut written = Vec::new();
        for kind in types {
            written.push(match *kind {
                "string" => string(schema),
                "number" => number(schema),
                "integer" if types.contains(&"number") => continue,
                "integer" => integer(schema),
                "boolean" => of_type("BOOLEAN"),
                "array" => self.array(schema, depth)?,
                "object" => self.object(schema, depth)?,
                "null" => of_type("NULL"),
                // No JSON Schema; the kernel compiles none, the shape takes anything.
                _ => anything(),
            });
        }
        Ok(either(written))
    }

    fn array(&mut self, schema: &Schema, depth: usize) -> Result<Schema, Stop> {
        let mut written = of_type("ARRAY");
        let positions = schema.get("prefixItems").and_then(Value::as_array);
        let items = match positions {
            None => schema.get("items").cloned(),
            Some(positions) => {
                let most = schema.get("maxItems").and_then(Value::as_u64);
                let ends = schema.get("items") == Some(&Value::Bool(false))
                    || most.is_some_and(|most| most <= positions.len() as u64);
                ends.then(|| any_of(positions.iter()))
            }
        };
        let items = match items {
            Some(items) => self.any_schema(&items, depth + 1)?,
            None => anything(),
        };
        written.insert("items".to_owned(), Value::Object(items));
        counts(schema, &mut written, ["minItems", "maxItems"]);
        told(
            schema,
            &mut written,
            &["prefixItems", "uniqueItems", "contains"],
        );
        Ok(written)
    }

    fn object(&mut self, schema: &Schema, depth: usize) -> Result<Schema, Stop> {
        let mut written = of_type("OBJECT");
        let mut properties = Map::new();
        if let Some(Value::Object(named)) = schema.get("properties") {
            for (name, inner) in named {
                if *inner != Value::Bool(false) {
                    let inner = self.any_schema(inner, depth + 1)?;
                    properties.insert(name.clone(), Value::Object(inner));
                }
            }
        }
        let required: Vec<_> = place::required(schema)
            .into_iter()
            .filter(|name| properties.contains_key(*name))
            .collect();
        if !required.is_empty() {
            written.insert("required".to_owned(), json!(required));
        }
        if !properties.is_empty() {
            written.insert("properties".to_owned(), Value::Object(properties));
        }
        counts(schema, &mut written, ["minProperties", "maxProperties"]);
        let further = [
            "additionalProperties",
            "patternProperties",
            "propertyNames",
            "not",
            "if",
            "dependentRequired",
            "dependentSchemas",
        ];
        told(schema, &mut written, &further);
        Ok(written)
    }
}

/// Whether a schema is one of objects and of nothing else, so that it can be merged with others.
fn is_object_alone(schema: &Schema) -> bool {
    place::types(schema).as_deref() == Some(&["object"])
}

/// Whether a schema is one of objects, and of `null` at most.
fn is_object(schema: &Schema) -> bool {
    place::types(schema).is_some_and(|types| {
        types.contains(&"object") && types.iter().all(|kind| ["object", "null"].contains(kind))
    })
}
