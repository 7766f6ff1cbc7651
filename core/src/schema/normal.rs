//! The normal form of a schema.
//!
//! - The root is an object with `properties`, without `$schema` and `title`. A payload of several
//!   forms, all of them objects, has them under `oneOf` or `anyOf` beside empty `properties`.
//! - An object that names its properties refuses all others. One that takes any name, such as a
//!   map, says of what schema the values are.
//! - What stands beside a `$ref` or a list of alternatives, and belongs to the same object, is
//!   written into it: each alternative is whole, and can be closed.
//! - No schema is `true` or `false`, but for "nothing else" in `additionalProperties`.
//! - An enum of names is one list of names; what is said of each stands in the description.
//! - Integers have the bounds of their type. Those that no JSON number can leave without losing
//!   digits are left out: the kernel refuses such numbers before any schema is asked.
//! - Definitions are those that are used, under names without escapes.
//!
//! A schema in normal form is its own normal form.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::definitions::Definitions;
use super::walk::{Object, inner_mut, is_within};
use super::{MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, SchemaFault, no_arguments};

/// At most this many combinations of alternatives are written out.
const MAX_ALTERNATIVES: usize = 64;
const UNIONS: [&str; 2] = ["oneOf", "anyOf"];
/// What is said of an object, and so can be said beside a part of the same object.
const OF_AN_OBJECT: [&str; 4] = ["type", "properties", "required", "additionalProperties"];
/// What a generator writes for itself or for another direction.
const NOISE: [&str; 4] = ["$schema", "$id", "readOnly", "writeOnly"];

/// Brings the root schema of arguments into normal form.
///
/// # Errors
/// [`SchemaFault`] when the root does not describe objects alone, or is too large.
pub fn normal_form(schema: Value) -> Result<Value, SchemaFault> {
    let Value::Object(mut root) = schema else {
        return Err(SchemaFault::NotAnObject {
            found: ANYTHING.to_owned(),
        });
    };
    let form = Form::of(&mut root, Purpose::Arguments)?;
    if root.get("type") == Some(&json!("null")) {
        return Ok(no_arguments());
    }
    form.check_object(&root)?;
    root.insert("type".to_owned(), json!("object"));
    root.entry("properties").or_insert_with(|| json!({}));
    form.finish(root)
}

/// Brings the root schema of a result into normal form; a result may be anything, and may grow, so
/// its objects stay open. `None` where it says nothing.
///
/// # Errors
/// [`SchemaFault::TooLarge`] and [`SchemaFault::TooDeep`].
pub fn result_form(schema: Value) -> Result<Option<Value>, SchemaFault> {
    let Value::Object(mut root) = schema else {
        return Ok(None);
    };
    let form = Form::of(&mut root, Purpose::Result)?;
    if root.get("type") == Some(&json!("null")) {
        return Ok(None);
    }
    let schema = form.finish(root)?;
    let says = |root: &Object| root.keys().any(|key| key != "description");
    Ok(schema.as_object().is_some_and(says).then_some(schema))
}

const ANYTHING: &str = "anything at all";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Arguments,
    Result,
}

/// A schema under way.
struct Form {
    definitions: Definitions,
    purpose: Purpose,
}

impl Form {
    fn of(root: &mut Object, purpose: Purpose) -> Result<Self, SchemaFault> {
        let definitions = Definitions::take(root);
        let deep = |schema: &Value| !is_within(schema, MAX_SCHEMA_DEPTH);
        if definitions.values().any(deep) || root.values().any(deep) {
            return Err(SchemaFault::TooDeep);
        }
        let form = Self {
            definitions,
            purpose,
        };
        form.follow(root);
        Ok(form)
    }

    fn finish(self, root: Object) -> Result<Value, SchemaFault> {
        let mut root = Value::Object(root);
        self.tidy(&mut root, &[], true)?;
        let used = self
            .definitions
            .used(&root, |schema| self.tidy(schema, &[], true))?;
        if let Value::Object(root) = &mut root {
            used.put_into(root);
        }
        let bytes = root.to_string().len();
        if bytes > MAX_SCHEMA_BYTES {
            return Err(SchemaFault::TooLarge { bytes });
        }
        Ok(root)
    }

    /// A schema that is a name for another is that other one.
    fn follow(&self, schema: &mut Object) {
        let mut followed = BTreeSet::new();
        while let Some(Value::String(reference)) = schema.get("$ref").cloned() {
            let target = self.definitions.get(&reference).cloned();
            let mut own = schema.clone();
            own.remove("$ref");
            match target.and_then(|target| merged(own, target)) {
                Some(whole) if followed.insert(reference) => *schema = whole,
                _ => return,
            }
        }
    }

    fn check_object(&self, root: &Object) -> Result<(), SchemaFault> {
        let mut others = BTreeSet::new();
        let takes_objects = self.others(root, &mut others, &mut BTreeSet::new());
        if others.is_empty() && takes_objects {
            return Ok(());
        }
        if others.is_empty() {
            // It refers to nothing but itself.
            others.insert(ANYTHING.to_owned());
        }
        let found = others.into_iter().collect::<Vec<_>>().join(" or ");
        Err(if takes_objects {
            SchemaFault::NotAlwaysAnObject { found }
        } else {
            SchemaFault::NotAnObject { found }
        })
    }

    /// Collects, in words, what a schema takes besides objects; whether it takes objects too.
    fn others(
        &self,
        schema: &Object,
        others: &mut BTreeSet<String>,
        seen: &mut BTreeSet<String>,
    ) -> bool {
        let kinds = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.as_slice(),
            Some(kind) => std::slice::from_ref(kind),
            None => &[],
        };
        if !kinds.is_empty() {
            let kinds = || kinds.iter().filter_map(Value::as_str);
            others.extend(kinds().filter(|kind| *kind != "object").map(in_words));
            return kinds().any(|kind| kind == "object");
        }
        if let Some(Value::String(reference)) = schema.get("$ref") {
            if !seen.insert(reference.clone()) {
                return false;
            }
            if let Some(target) = self.definitions.get(reference) {
                return self.others(target, others, seen);
            }
        }
        if let Some(Value::Array(parts)) = schema.get("allOf") {
            // All parts hold at once: one that is an object is enough.
            let is_object = |part: &Object| {
                let mut others = BTreeSet::new();
                self.others(part, &mut others, &mut seen.clone()) && others.is_empty()
            };
            if parts.iter().filter_map(Value::as_object).any(is_object) {
                return true;
            }
        }
        let unions = UNIONS.iter().filter_map(|key| schema.get(*key)?.as_array());
        let alternatives: Vec<_> = unions.flatten().filter_map(Value::as_object).collect();
        if alternatives.is_empty() {
            others.insert(ANYTHING.to_owned());
        }
        let takes_objects = alternatives
            .into_iter()
            .filter(|alternative| self.others(alternative, others, seen));
        takes_objects.count() > 0
    }

    /// Tidies one schema and all in it. `within` are the definitions that it was written out of;
    /// a part of an object that is closed as a whole is not to be closed itself.
    fn tidy(&self, schema: &mut Value, within: &[String], close: bool) -> Result<(), SchemaFault> {
        if let Value::Bool(anything) = schema {
            // Legal JSON Schema, and refused by most providers.
            *schema = if *anything {
                json!({})
            } else {
                json!({"not": {}})
            };
        }
        let Value::Object(object) = schema else {
            return Ok(());
        };
        NOISE.iter().for_each(|key| drop(object.remove(*key)));
        if object.get("default") == Some(&Value::Null) {
            object.remove("default");
        }
        let mut within = within.to_vec();
        self.write_out(object, &mut within);
        self.distribute(object, &within);
        fold_names(object);
        bound_integer(object);
        let close = close && self.purpose == Purpose::Arguments;
        let is_joined = close && self.is_joined(object)?;
        for (keyword, inner) in inner_mut(object) {
            match keyword {
                "additionalProperties" | "unevaluatedProperties" if *inner == json!(false) => {}
                // About the same value.
                "oneOf" | "anyOf" | "allOf" | "if" | "then" | "else" => {
                    self.tidy(inner, &within, close && !is_joined)?;
                }
                // Closed, it would let in what it is there to keep out.
                "not" => self.tidy(inner, &[], false)?,
                _ => self.tidy(inner, &[], true)?,
            }
        }
        if close {
            close_object(object, is_joined);
        }
        Ok(())
    }

    /// Writes what a `$ref` or an `allOf` says of an object into that object.
    fn write_out(&self, object: &mut Object, within: &mut Vec<String>) {
        while let Some(Value::String(reference)) = object.get("$ref").cloned() {
            // A type that holds itself without a field between stays a reference.
            if !is_of_an_object(object) || within.contains(&reference) {
                break;
            }
            let mut own = object.clone();
            own.remove("$ref");
            let target = self.definitions.get(&reference).cloned();
            let Some(whole) = target.and_then(|target| merged(own, target)) else {
                break;
            };
            *object = whole;
            within.push(reference);
        }
        let Some(Value::Array(parts)) = object.get("allOf").cloned() else {
            return;
        };
        let mut own = object.clone();
        own.remove("allOf");
        let resolved = parts.into_iter().map(|part| self.resolved(part, within));
        let whole = resolved
            .collect::<Option<Vec<_>>>()
            .and_then(|parts| all_of(own, parts));
        if let Some(whole) = whole {
            *object = whole;
        }
    }

    /// What a part of an object says itself, or by the definition that it stands for.
    fn resolved(&self, part: Value, within: &[String]) -> Option<Object> {
        let Value::Object(part) = part else {
            return None;
        };
        match part.get("$ref") {
            Some(Value::String(reference)) if part.len() == 1 => {
                let target = self.definitions.get(reference)?;
                (!within.contains(reference)).then(|| target.clone())
            }
            _ => Some(part),
        }
    }

    /// Writes what stands beside a union of objects into each of its alternatives.
    fn distribute(&self, object: &mut Object, within: &[String]) {
        let Some(union) = UNIONS.iter().find(|key| object.contains_key(**key)) else {
            return;
        };
        let shared: Object = OF_AN_OBJECT
            .iter()
            .filter_map(|key| Some(((*key).to_owned(), object.get(*key)?.clone())))
            .collect();
        let says_nothing = shared.iter().all(|(key, value)| {
            key == "type" || key == "properties" && value.as_object().is_some_and(Object::is_empty)
        });
        let Some(Value::Array(alternatives)) = object.get(*union) else {
            return;
        };
        if says_nothing {
            return;
        }
        let whole: Option<Vec<Value>> = alternatives
            .iter()
            .map(|alternative| {
                let alternative = self.resolved(alternative.clone(), within)?;
                let is_object =
                    alternative.get("type") == Some(&json!("object")) || is_union(&alternative);
                let whole = is_object.then(|| merged(shared.clone(), alternative))?;
                whole.map(Value::Object)
            })
            .collect();
        if let Some(whole) = whole {
            OF_AN_OBJECT
                .iter()
                .for_each(|key| drop(object.remove(*key)));
            object.insert((*union).to_owned(), Value::Array(whole));
            // Each alternative is closed itself now.
            object.remove("unevaluatedProperties");
            object.insert("type".to_owned(), json!("object"));
            object.insert("properties".to_owned(), json!({}));
        }
    }

    /// Whether an object is still told in several parts, none of which can be closed by itself.
    fn is_joined(&self, object: &Object) -> Result<bool, SchemaFault> {
        let names_some = |object: &Object| {
            let named = object.get("properties").and_then(Value::as_object);
            named.is_some_and(|named| !named.is_empty())
        };
        let has_own = names_some(object) || object.contains_key("additionalProperties");
        let refers = object.contains_key("$ref");
        let parts = object
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let has_parts = parts.filter_map(Value::as_object).any(|part| {
            names_some(part) || self.others(part, &mut BTreeSet::new(), &mut BTreeSet::new())
        });
        if has_own && refers || has_parts {
            return Err(SchemaFault::Entangled);
        }
        Ok(has_own && is_union(object))
    }
}

fn is_union(object: &Object) -> bool {
    UNIONS.iter().any(|key| object.contains_key(*key))
}

fn is_of_an_object(object: &Object) -> bool {
    OF_AN_OBJECT.iter().any(|key| object.contains_key(*key)) || is_union(object)
}

/// One object that is all of these parts. Of several unions each combination becomes an alternative.
fn all_of(own: Object, parts: Vec<Object>) -> Option<Object> {
    let (unions, plain): (Vec<_>, Vec<_>) = parts.into_iter().partition(is_union);
    let mut whole = plain.into_iter().try_fold(own, merged)?;
    if unions.len() < 2 {
        return unions.into_iter().try_fold(whole, merged);
    }
    let mut alternatives = vec![Object::new()];
    let mut key = "oneOf";
    for union in unions {
        let (Some((of, Value::Array(inner))), 1) = (union.iter().next(), union.len()) else {
            return None;
        };
        if of != key {
            key = "anyOf";
        }
        if alternatives.len() * inner.len() > MAX_ALTERNATIVES {
            return None;
        }
        let with_each = |one: &Object| -> Option<Vec<Object>> {
            let each = inner
                .iter()
                .map(|other| merged(one.clone(), other.as_object()?.clone()));
            each.collect()
        };
        let all: Option<Vec<Vec<Object>>> = alternatives.iter().map(with_each).collect();
        alternatives = all?.concat();
    }
    let alternatives = alternatives.into_iter().map(Value::Object).collect();
    whole.insert(key.to_owned(), Value::Array(alternatives));
    Some(whole)
}

/// One object that is both; `None` where they cannot be told as one.
fn merged(mut one: Object, other: Object) -> Option<Object> {
    for (key, theirs) in other {
        let Some(ours) = one.get_mut(&key) else {
            one.insert(key, theirs);
            continue;
        };
        match (key.as_str(), ours, theirs) {
            // What is said at the place of use is nearer than what is said of the type.
            ("description" | "title" | "default" | "examples", _, _) => {}
            ("properties", Value::Object(ours), Value::Object(theirs)) => {
                for (name, theirs) in theirs {
                    let ours = ours.entry(name).or_insert_with(|| theirs.clone());
                    if *ours != theirs {
                        return None;
                    }
                }
            }
            ("required", Value::Array(ours), Value::Array(theirs)) => {
                let new: Vec<_> = theirs
                    .into_iter()
                    .filter(|name| !ours.contains(name))
                    .collect();
                ours.extend(new);
            }
            // "Nothing else" is said of one part's fields; a map beside it takes the rest.
            ("additionalProperties", _, Value::Bool(false)) => {}
            ("additionalProperties", ours @ Value::Bool(false), theirs) => *ours = theirs,
            (_, ours, theirs) if *ours == theirs => {}
            _ => return None,
        }
    }
    Some(one)
}

/// Makes one list of names out of alternatives that are names.
fn fold_names(object: &mut Object) {
    let Some(union) = UNIONS.iter().find(|key| object.contains_key(**key)) else {
        return;
    };
    let only_names = object
        .keys()
        .all(|key| matches!(key.as_str(), "description" | "default") || key == union);
    let Some(Value::Array(alternatives)) = object.get(*union).filter(|_| only_names) else {
        return;
    };
    let mut names = Vec::new();
    let mut told = Vec::new();
    for alternative in alternatives {
        let is_told = |key: &str| matches!(key, "type" | "const" | "enum" | "description");
        let Some(alternative) = alternative
            .as_object()
            .filter(|a| a.keys().all(|k| is_told(k)))
        else {
            return;
        };
        let one = alternative.get("const").into_iter();
        let listed = alternative.get("enum").and_then(Value::as_array);
        let before = names.len();
        names.extend(one.chain(listed.into_iter().flatten()).cloned());
        let Some(new) = names.get(before..).filter(|new| !new.is_empty()) else {
            return;
        };
        if let Some(Value::String(text)) = alternative.get("description") {
            let new: Vec<_> = new
                .iter()
                .filter_map(Value::as_str)
                .map(|name| format!("`{name}`"))
                .collect();
            told.push(format!("- {}: {text}", new.join(", ")));
        }
    }
    if names.iter().any(|name| !name.is_string()) {
        return;
    }
    object.remove(*union);
    object.insert("type".to_owned(), json!("string"));
    object.insert("enum".to_owned(), Value::Array(names));
    if !told.is_empty() {
        let own = object.get("description").and_then(Value::as_str);
        let lines: Vec<String> = own.map(str::to_owned).into_iter().chain(told).collect();
        object.insert("description".to_owned(), json!(lines.join("\n")));
    }
}

/// Puts the bounds of a number's type in place of its name, which is a generator's own.
fn bound_integer(object: &mut Object) {
    let Some(format) = object.get("format").and_then(Value::as_str) else {
        return;
    };
    let bounds: (Option<i64>, Option<i64>) = match format {
        "uint8" => (Some(0), Some(i64::from(u8::MAX))),
        "uint16" => (Some(0), Some(i64::from(u16::MAX))),
        "uint32" => (Some(0), Some(i64::from(u32::MAX))),
        "uint64" | "uint128" | "uint" => (Some(0), None),
        "int8" => (Some(i64::from(i8::MIN)), Some(i64::from(i8::MAX))),
        "int16" => (Some(i64::from(i16::MIN)), Some(i64::from(i16::MAX))),
        "int32" => (Some(i64::from(i32::MIN)), Some(i64::from(i32::MAX))),
        "int64" | "int128" | "int" | "float" | "double" => (None, None),
        _ => return,
    };
    object.remove("format");
    // What the author said is nearer, and cannot be wider: the type would refuse it.
    for (key, bound) in [("minimum", bounds.0), ("maximum", bounds.1)] {
        if let Some(bound) = bound {
            object.entry(key).or_insert_with(|| json!(bound));
        }
    }
}

/// Refuses the properties that an object does not name.
fn close_object(object: &mut Object, is_joined: bool) {
    let is_object =
        object.get("type") == Some(&json!("object")) || object.contains_key("properties");
    let is_open = [
        "additionalProperties",
        "unevaluatedProperties",
        "patternProperties",
    ]
    .iter()
    .all(|key| !object.contains_key(*key));
    if !is_object || !is_open {
        return;
    }
    if is_joined {
        object.insert("unevaluatedProperties".to_owned(), json!(false));
        return;
    }
    object.entry("properties").or_insert_with(|| json!({}));
    // Each alternative of a union of objects is closed itself.
    if !is_union(object) {
        object.insert("additionalProperties".to_owned(), json!(false));
    }
}

fn in_words(kind: &str) -> String {
    let words = match kind {
        "string" => "a string",
        "integer" => "an integer",
        "number" => "a number",
        "boolean" => "a boolean",
        "array" => "a list",
        "null" => "null",
        _ => ANYTHING,
    };
    words.to_owned()
}
