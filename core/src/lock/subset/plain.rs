//! A schema without what does not decide: annotations, the order of a list that is a set, and the many
//! spellings of one thing.
//!
//! Pointers into the schema as it was written lead to the same places here, so that a difference
//! found in the one can be named by its place in the other.

use serde_json::{Map, Value, json};

use crate::schema::walk::Holds;

/// Keywords that describe and do not decide (JSON Schema 2020-12, Validation, section 9).
pub(in crate::lock) const ANNOTATIONS: [&str; 8] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
];

/// The dialect that the kernel compiles schemas by.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The deepest nesting of schemas that is read.
const MAX_DEPTH: usize = 64;

/// Keywords that change what a `$ref` means, or which rules hold. Of a schema that has one of them
/// nothing is proved.
const FOREIGN: [&str; 7] = [
    "$schema",
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveRef",
    "$vocabulary",
];

/// A root schema in plain form.
#[derive(Debug)]
pub(in crate::lock) struct Plain {
    pub(super) root: Value,
    /// It has a keyword of [`FOREIGN`], or is deeper than [`MAX_DEPTH`].
    pub(in crate::lock) is_foreign: bool,
}

impl Plain {
    pub(in crate::lock) fn of(schema: &Value) -> Self {
        let mut is_foreign = false;
        let root = plain(schema, MAX_DEPTH, &mut is_foreign);
        Self { root, is_foreign }
    }

    /// The place that a JSON Pointer leads to.
    pub(in crate::lock) fn at(&self, pointer: &str) -> Option<Place<'_>> {
        let schema = self.root.pointer(pointer)?;
        Some(Place { schema, root: self })
    }
}

/// A schema, and the root that its references are of.
#[derive(Debug, Clone, Copy)]
pub(in crate::lock) struct Place<'a> {
    pub(in crate::lock) schema: &'a Value,
    pub(in crate::lock) root: &'a Plain,
}

impl<'a> Place<'a> {
    pub(super) fn to(self, schema: &'a Value) -> Self {
        Self { schema, ..self }
    }

    pub(in crate::lock) fn get(self, keyword: &str) -> Option<&'a Value> {
        self.schema.get(keyword)
    }

    pub(super) fn is(self, other: Place<'_>) -> bool {
        std::ptr::eq(self.schema, other.schema)
    }

    /// The schemas of a keyword that holds a list of them.
    pub(super) fn list(self, keyword: &str) -> impl Iterator<Item = Place<'a>> {
        let list = self.get(keyword).and_then(Value::as_array);
        list.into_iter().flatten().map(move |it| self.to(it))
    }

    /// The named schemas of a keyword that holds a map of them.
    pub(super) fn map(self, keyword: &str) -> impl Iterator<Item = (&'a String, Place<'a>)> {
        let map = self.get(keyword).and_then(Value::as_object);
        map.into_iter()
            .flatten()
            .map(move |(name, it)| (name, self.to(it)))
    }

    /// Where the place's `$ref` leads, if it leads into the same root.
    pub(super) fn target(self) -> Option<Place<'a>> {
        self.root.at(pointer_of(self.get("$ref")?.as_str()?)?)
    }

    /// Whether two schemas are the same but for what [`Plain`] leaves out and for the names of
    /// definitions.
    pub(super) fn is_same(self, other: Place<'_>) -> bool {
        same(self, other, &mut Vec::new())
    }
}

/// The JSON Pointer of a reference within the document; `None` for one that leads out of it, or that
/// is percent-encoded.
pub(in crate::lock) fn pointer_of(reference: &str) -> Option<&str> {
    let pointer = reference.strip_prefix('#')?;
    let is_pointer = pointer.is_empty() || pointer.starts_with('/');
    (is_pointer && !pointer.contains('%')).then_some(pointer)
}

fn plain(schema: &Value, room: usize, is_foreign: &mut bool) -> Value {
    let Some(room) = room.checked_sub(1) else {
        *is_foreign = true;
        return Value::Null;
    };
    let map = match schema {
        Value::Bool(true) => return json!({}),
        Value::Object(map) => map,
        // `false`, or what is no schema.
        other => return other.clone(),
    };
    let mut out = Map::new();
    for (keyword, value) in map {
        let keyword = keyword.as_str();
        if ANNOTATIONS.contains(&keyword) || (keyword == "$schema" && value == DIALECT) {
            continue;
        }
        *is_foreign |= FOREIGN.contains(&keyword);
        let (keyword, value) = match (keyword, Holds::of(keyword), value) {
            (_, Holds::One, value) => (keyword, plain(value, room, is_foreign)),
            (_, Holds::List, Value::Array(list)) => {
                let list = list.iter().map(|it| plain(it, room, is_foreign)).collect();
                (keyword, Value::Array(list))
            }
            (_, Holds::Map, Value::Object(map)) => {
                let map = map
                    .iter()
                    .map(|(name, it)| (name.clone(), plain(it, room, is_foreign)));
                (keyword, Value::Object(map.collect()))
            }
            ("type", _, Value::String(name)) => (keyword, json!([name])),
            ("type" | "required" | "enum", _, Value::Array(list)) => (keyword, as_set(list)),
            ("const", _, value) if !map.contains_key("enum") => ("enum", json!([value])),
            (_, _, value) => (keyword, value.clone()),
        };
        out.insert(keyword.to_owned(), value);
    }
    Value::Object(out)
}

/// A list whose order and repetitions say nothing.
fn as_set(list: &[Value]) -> Value {
    let mut list = list.to_vec();
    list.sort_by_cached_key(ToString::to_string);
    list.dedup();
    Value::Array(list)
}

/// Two places unfold to one tree. A pair of definitions under way counts as the same: if nothing
/// differs on the way round, nothing does.
fn same<'a, 'b>(a: Place<'a>, b: Place<'b>, under_way: &mut Vec<(Place<'a>, Place<'b>)>) -> bool {
    let (Value::Object(one), Value::Object(other)) = (a.schema, b.schema) else {
        return a.schema == b.schema;
    };
    let decides = |key: &&String| !matches!(key.as_str(), "$defs" | "definitions");
    if !one.keys().filter(decides).eq(other.keys().filter(decides)) {
        return false;
    }
    one.iter().filter(|(key, _)| decides(key)).all(|(key, it)| {
        let Some(its) = other.get(key) else {
            return false;
        };
        match (Holds::of(key), it, its) {
            _ if key == "$ref" => {
                let (Some(a), Some(b)) = (a.target(), b.target()) else {
                    return false;
                };
                if under_way.iter().any(|(x, y)| x.is(a) && y.is(b)) {
                    return true;
                }
                under_way.push((a, b));
                same(a, b, under_way)
            }
            (Holds::One, it, its) => same(a.to(it), b.to(its), under_way),
            (Holds::List, Value::Array(it), Value::Array(its)) => {
                it.len() == its.len()
                    && it
                        .iter()
                        .zip(its)
                        .all(|(it, its)| same(a.to(it), b.to(its), under_way))
            }
            (Holds::Map, Value::Object(it), Value::Object(its)) => {
                it.keys().eq(its.keys())
                    && it
                        .values()
                        .zip(its.values())
                        .all(|(it, its)| same(a.to(it), b.to(its), under_way))
            }
            (_, it, its) => it == its,
        }
    })
}
