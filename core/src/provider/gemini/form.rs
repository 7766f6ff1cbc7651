//! The forms that a schema of Gemini's can have: one type with its fields, or alternatives.
//!
//! Beside `anyOf` no other field may stand, so that a description and the mark of `null` go into
//! each alternative.

use serde_json::{Map, Value, json};

use super::super::description;

/// A schema of Gemini's.
pub(super) type Schema = Map<String, Value>;

pub(super) fn of_type(kind: &str) -> Schema {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!(kind));
    schema
}

/// Any JSON value. The subset has no word for it; lists of lists of lists are the one thing that
/// these alternatives do not name.
pub(super) fn anything() -> Schema {
    let plain = || {
        ["STRING", "NUMBER", "BOOLEAN", "OBJECT"]
            .map(of_type)
            .map(|mut schema| {
                nullable(&mut schema);
                Value::Object(schema)
            })
            .to_vec()
    };
    let with_lists = |items: Vec<Value>| {
        let mut alternatives = plain();
        let items = json!({"anyOf": items});
        alternatives.push(json!({"type": "ARRAY", "items": items, "nullable": true}));
        alternatives
    };
    let mut schema = Map::new();
    let lists = with_lists(with_lists(plain()));
    schema.insert("anyOf".to_owned(), Value::Array(lists));
    schema
}

/// Several alternatives as one schema. Alternatives of alternatives join them, and `null` becomes a
/// mark on the others.
pub(super) fn either(schemas: Vec<Schema>) -> Schema {
    let mut null = None;
    let mut distinct: Vec<Schema> = Vec::new();
    let mut add = |schema: Schema| {
        if schema.get("type") == Some(&json!("NULL")) {
            null = Some(schema);
        } else if !distinct.contains(&schema) {
            distinct.push(schema);
        }
    };
    for mut schema in schemas {
        match schema.remove("anyOf") {
            Some(Value::Array(inner)) => inner.into_iter().for_each(|inner| {
                if let Value::Object(inner) = inner {
                    add(inner);
                }
            }),
            _ => add(schema),
        }
    }
    if let Some(null) = null {
        if distinct.is_empty() {
            return null;
        }
        distinct.iter_mut().for_each(nullable);
    }
    let mut left = distinct.into_iter();
    match (left.next(), left.next()) {
        (None, _) => anything(),
        (Some(only), None) => only,
        (Some(first), Some(second)) => {
            let all: Vec<_> = [first, second].into_iter().chain(left).collect();
            let mut schema = Map::new();
            schema.insert("anyOf".to_owned(), json!(all));
            schema
        }
    }
}

/// Marks a schema, or each of its alternatives, as one that takes `null`.
pub(super) fn nullable(schema: &mut Schema) {
    each_form(schema, |form| {
        form.insert("nullable".to_owned(), json!(true));
    });
}

/// A schema, or each of its alternatives: beside `anyOf` nothing else may stand.
fn each_form(schema: &mut Schema, mut change: impl FnMut(&mut Schema)) {
    match schema.get_mut("anyOf") {
        Some(Value::Array(forms)) => forms
            .iter_mut()
            .filter_map(Value::as_object_mut)
            .for_each(change),
        _ => change(schema),
    }
}

pub(super) fn tell(schema: &mut Schema, sentences: &[String]) {
    each_form(schema, |form| description::tell(form, sentences));
}

pub(super) fn told(from: &Schema, schema: &mut Schema, keys: &[&str]) {
    tell(schema, &description::sentences(from, keys));
}

/// The author's words first, then what was told of this schema.
pub(super) fn annotate(from: &Schema, schema: &mut Schema) {
    let said = from.get("description").and_then(Value::as_str);
    if let Some(said) = said.map(str::trim).filter(|said| !said.is_empty()) {
        each_form(schema, |form| {
            let added = form
                .get("description")
                .and_then(Value::as_str)
                .map(str::to_owned);
            // The words of a definition that is merged with its own are there already.
            if added
                .as_deref()
                .is_some_and(|added| added.starts_with(said))
            {
                return;
            }
            form.insert("description".to_owned(), json!(said));
            description::tell(form, added.as_slice());
        });
    }
    told(from, schema, &["default", "examples", "deprecated"]);
    if let Some(Value::String(title)) = from.get("title") {
        each_form(schema, |form| {
            form.entry("title").or_insert_with(|| json!(title));
        });
    }
}

/// Counts are int64, which are texts in JSON.
pub(super) fn counts(from: &Schema, schema: &mut Schema, keys: [&str; 2]) {
    for key in keys {
        if let Some(count) = from
            .get(key)
            .and_then(Value::as_i64)
            .filter(|count| *count >= 0)
        {
            schema.insert(key.to_owned(), json!(count.to_string()));
        }
    }
}

pub(super) fn string(from: &Schema) -> Schema {
    let mut schema = of_type("STRING");
    if let Some(Value::String(pattern)) = from.get("pattern") {
        schema.insert("pattern".to_owned(), json!(pattern));
    }
    counts(from, &mut schema, ["minLength", "maxLength"]);
    match from.get("format").and_then(Value::as_str) {
        Some("date-time") => {
            schema.insert("format".to_owned(), json!("date-time"));
        }
        _ => told(from, &mut schema, &["format"]),
    }
    schema
}

pub(super) fn number(from: &Schema) -> Schema {
    let mut schema = of_type("NUMBER");
    bounds(from, &mut schema);
    told(
        from,
        &mut schema,
        &["exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
    );
    schema
}

/// An exclusive bound of integers is the next integer's.
pub(super) fn integer(from: &Schema) -> Schema {
    let mut schema = of_type("INTEGER");
    bounds(from, &mut schema);
    let more = from.get("exclusiveMinimum").and_then(Value::as_i64);
    let less = from.get("exclusiveMaximum").and_then(Value::as_i64);
    match more.and_then(|more| more.checked_add(1)) {
        Some(least) if !schema.contains_key("minimum") => {
            schema.insert("minimum".to_owned(), json!(least));
        }
        _ => told(from, &mut schema, &["exclusiveMinimum"]),
    }
    match less.and_then(|less| less.checked_sub(1)) {
        Some(most) if !schema.contains_key("maximum") => {
            schema.insert("maximum".to_owned(), json!(most));
        }
        _ => told(from, &mut schema, &["exclusiveMaximum"]),
    }
    told(from, &mut schema, &["multipleOf"]);
    schema
}

fn bounds(from: &Schema, schema: &mut Schema) {
    for key in ["minimum", "maximum"] {
        if let Some(bound) = from.get(key).filter(|bound| bound.is_number()) {
            schema.insert(key.to_owned(), bound.clone());
        }
    }
}

/// `const` and `enum`: texts are listed, other values are told.
pub(super) fn values(from: &Schema) -> Schema {
    let listed = match (from.get("const"), from.get("enum")) {
        (Some(value), _) => vec![value],
        (None, Some(Value::Array(values))) => values.iter().collect(),
        _ => Vec::new(),
    };
    let mut forms = Vec::new();
    let texts: Vec<_> = listed.iter().filter_map(|value| value.as_str()).collect();
    if !texts.is_empty() {
        let mut schema = of_type("STRING");
        if texts.iter().all(|text| !text.is_empty()) {
            schema.insert("format".to_owned(), json!("enum"));
            schema.insert("enum".to_owned(), json!(texts));
        } else {
            tell(&mut schema, &[one_of(texts.iter().map(|text| json!(text)))]);
        }
        forms.push(schema);
    }
    type Test = fn(&Value) -> bool;
    let integer: Test = |value| value.is_i64() || value.is_u64();
    let others: [(&str, Test); 4] = [
        ("INTEGER", integer),
        ("NUMBER", Value::is_f64),
        ("BOOLEAN", Value::is_boolean),
        ("OBJECT", Value::is_object),
    ];
    for (kind, fits) in others {
        let values: Vec<_> = listed.iter().filter(|value| fits(value)).collect();
        if !values.is_empty() {
            let mut schema = of_type(kind);
            tell(
                &mut schema,
                &[one_of(values.into_iter().map(|value| (*value).clone()))],
            );
            forms.push(schema);
        }
    }
    if listed.iter().any(|value| value.is_array()) {
        forms.push(anything());
    }
    if listed.iter().any(|value| value.is_null()) {
        forms.push(of_type("NULL"));
    }
    either(forms)
}

fn one_of(values: impl Iterator<Item = Value>) -> String {
    let values: Vec<_> = values.map(|value| description::quote(&value)).collect();
    match values.as_slice() {
        [only] => format!("Always {only}."),
        _ => format!("One of {}.", description::list(values.into_iter())),
    }
}
