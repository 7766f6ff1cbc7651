//! How places, values and alternatives of a schema are called in a change.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::lock::subset::Place;
use crate::schema::walk::escaped;

/// The longest value that a change quotes, in characters.
const MAX_QUOTED: usize = 80;

pub(super) const NOT_PROVED: &str = "is not proved to take no more than before";
pub(super) const LESS: &str = "takes less than before";

pub(super) fn names(place: Place<'_>) -> BTreeSet<&str> {
    let map = place.get("properties").and_then(Value::as_object);
    map.into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect()
}

pub(super) fn required(place: Place<'_>) -> BTreeSet<&str> {
    let list = place.get("required").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// What an alternative is called, if it says so: by its only value, by a field with an only value (a
/// tag), by its only field, or by its type.
pub(super) fn called(place: Place<'_>) -> Option<String> {
    let only = |value: &Value| match value.get("enum")?.as_array()?.as_slice() {
        [value] => Some(shown(value)),
        _ => None,
    };
    if let Some(value) = only(place.schema) {
        return Some(value);
    }
    let properties = place.get("properties").and_then(Value::as_object);
    let tag = properties
        .into_iter()
        .flatten()
        .find_map(|(name, it)| Some((name, only(it)?)));
    if let Some((name, value)) = tag {
        return Some(format!("`{name}`: {value}"));
    }
    let must: Vec<&str> = required(place).into_iter().collect();
    if let [name] = must.as_slice() {
        return Some(format!("with `{name}`"));
    }
    let types = place.get("type")?.as_array()?;
    let types: Vec<&str> = types.iter().filter_map(Value::as_str).collect();
    Some(format!("of type {}", types.join(" or ")))
}

/// A pointer with further steps, escaped as RFC 6901 has it.
pub(super) fn join(pointer: &str, steps: &[&str]) -> String {
    steps.iter().fold(pointer.to_owned(), |pointer, step| {
        format!("{pointer}/{}", escaped(step))
    })
}

/// The place in front of the words; none for the arguments as a whole.
pub(super) fn prefix(pointer: &str) -> String {
    if pointer.is_empty() {
        String::new()
    } else {
        format!("`{pointer}`: ")
    }
}

pub(super) fn shown_change(keyword: &str, old: Option<&Value>, new: Option<&Value>) -> String {
    let shown = |value: Option<&Value>| value.map_or_else(|| "none".to_owned(), shown);
    format!("{keyword} {} -> {}", shown(old), shown(new))
}

/// A value in a line, cut where it is long.
pub(super) fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_QUOTED) {
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
        None => text,
    }
}
