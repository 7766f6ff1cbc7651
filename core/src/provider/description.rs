//! Descriptions: what a shape has no keyword for is told in short words, and so is the approval
//! that a call waits for.

use serde_json::{Map, Value};

use super::place;

/// How the description of a tool ends whose calls wait for the owner.
const MARK: &str = " (requires owner approval)";

/// The longest value that is quoted in a description, in characters.
const LONGEST_QUOTE: usize = 120;
/// The most values that are listed in a description.
const MOST_LISTED: usize = 50;

/// A tool's description, with the mark of approval where it needs one.
///
/// `most` is the provider's limit in characters. The mark is never lost to it: a text that only the
/// mark makes too long is cut, with `…`. A text that is too long by itself is left, for the checker
/// to find.
pub(super) fn of_tool(text: &str, approval_required: bool, most: Option<usize>) -> String {
    if !approval_required {
        return text.to_owned();
    }
    let length = text.chars().count();
    let room = most.map_or(usize::MAX, |most| most.saturating_sub(MARK.len()));
    if length <= room || most.is_some_and(|most| length > most) {
        return format!("{text}{MARK}");
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{}…{MARK}", kept.trim_end())
}

/// Adds sentences to a schema's description.
pub(super) fn tell(schema: &mut Map<String, Value>, sentences: &[String]) {
    let mut text = match schema.get("description") {
        Some(Value::String(text)) => text.trim_end().to_owned(),
        _ => String::new(),
    };
    for sentence in sentences {
        // What an author already says in these words is not said twice.
        if text.contains(sentence.as_str()) {
            continue;
        }
        if !text.is_empty() {
            if !text.ends_with(['.', '!', '?', ':', ';', ')', '`']) {
                text.push('.');
            }
            text.push(' ');
        }
        text.push_str(sentence);
    }
    if !text.is_empty() {
        schema.insert("description".to_owned(), Value::String(text));
    }
}

/// What these keywords of a schema say, one sentence each; nothing for the ones that are absent.
pub(super) fn sentences(schema: &Map<String, Value>, keys: &[&str]) -> Vec<String> {
    keys.iter()
        .filter_map(|key| sentence(key, schema.get(*key)?))
        .collect()
}

fn sentence(key: &str, value: &Value) -> Option<String> {
    let quoted = || quote(value);
    Some(match key {
        "minimum" => format!("At least {}.", quoted()),
        "maximum" => format!("At most {}.", quoted()),
        "exclusiveMinimum" => format!("More than {}.", quoted()),
        "exclusiveMaximum" => format!("Less than {}.", quoted()),
        "multipleOf" => format!("A multiple of {}.", quoted()),
        "minLength" => format!("At least {} characters.", quoted()),
        "maxLength" => format!("At most {} characters.", quoted()),
        "pattern" => format!("Matches the pattern `{}`.", clip(value.as_str()?)),
        "format" => format!("Format: {}.", clip(value.as_str()?)),
        "minItems" => format!("At least {} items.", quoted()),
        "maxItems" => format!("At most {} items.", quoted()),
        "uniqueItems" if value == &Value::Bool(true) => "No item twice.".to_owned(),
        "minProperties" => format!("At least {} entries.", quoted()),
        "maxProperties" => format!("At most {} entries.", quoted()),
        "default" => format!("Default: {}.", quoted()),
        "const" => format!("Always {}.", quoted()),
        "enum" => format!("One of {}.", list(value.as_array()?.iter().map(quote))),
        "examples" => format!("For example {}.", list(value.as_array()?.iter().map(quote))),
        "deprecated" if value == &Value::Bool(true) => "Deprecated.".to_owned(),
        "title" => format!("{}.", clip(value.as_str()?.trim_end_matches('.'))),
        "prefixItems" => {
            let positions = value.as_array()?.iter().map(kind);
            format!("In this order: {}.", list(positions))
        }
        "additionalProperties" if value.is_object() => {
            format!("Further names are free; each value is {}.", kind(value))
        }
        "patternProperties" => {
            let patterns = value.as_object()?.iter();
            let told =
                patterns.map(|(pattern, inner)| format!("`{}` is {}", clip(pattern), kind(inner)));
            format!("A name that matches {}.", list(told))
        }
        "propertyNames" => match value.get("pattern").and_then(Value::as_str) {
            Some(pattern) => format!("Names match the pattern `{}`.", clip(pattern)),
            None => "Not every name is accepted.".to_owned(),
        },
        "contains" => format!("One of its items is {}.", kind(value)),
        "not" | "if" | "dependentRequired" | "dependentSchemas" => {
            "Not every combination is accepted.".to_owned()
        }
        _ => return None,
    })
}

/// What a schema takes, in a few words.
pub(super) fn kind(schema: &Value) -> String {
    let Some(schema) = schema.as_object() else {
        return "any value".to_owned();
    };
    let what = if let Some(reference) = place::reference(schema) {
        let name = reference.rsplit('/').next().unwrap_or(reference);
        format!("`{}`", clip(name))
    } else if let Some(value) = schema.get("const") {
        quote(value)
    } else if let Some(Value::Array(values)) = schema.get("enum") {
        format!("one of {}", list(values.iter().map(quote)))
    } else {
        match place::types(schema).as_deref() {
            None | Some([]) if schema.contains_key("anyOf") || schema.contains_key("oneOf") => {
                "one of several forms".to_owned()
            }
            None | Some([]) => "any value".to_owned(),
            Some(types) => types.join(" or "),
        }
    };
    match schema.get("description").and_then(Value::as_str) {
        Some(text) => format!("{what} ({})", clip(text.trim().trim_end_matches('.'))),
        None => what,
    }
}

/// A list in words, bounded.
pub(super) fn list(items: impl Iterator<Item = String>) -> String {
    let mut items = items;
    let mut told: Vec<_> = items.by_ref().take(MOST_LISTED).collect();
    let more = items.count();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told.join(", ")
}

/// A value as JSON, bounded.
pub(super) fn quote(value: &Value) -> String {
    clip(&value.to_string())
}

/// A text in one line, bounded.
pub(super) fn clip(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST_QUOTE {
        return line;
    }
    let kept: String = line.chars().take(LONGEST_QUOTE - 1).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_mark_ends_the_description_within_the_limit() {
        assert_eq!(of_tool("Send.", false, Some(10)), "Send.");
        assert_eq!(of_tool("Send.", true, None), format!("Send.{MARK}"));
        let long = "é".repeat(1024);
        let marked = of_tool(&long, true, Some(1024));
        assert_eq!(marked.chars().count(), 1024);
        assert!(marked.ends_with(&format!("…{MARK}")));
        // What is too long by itself is the checker's to find, not cut in silence.
        assert!(of_tool(&"é".repeat(1025), true, Some(1024)).chars().count() > 1024);
    }

    #[test]
    fn keywords_are_told_after_what_the_author_says() {
        let mut schema = json!({
            "description": "How many", "minimum": 1, "maximum": 50, "default": 5,
            "uniqueItems": false, "format": "uuid"
        });
        let schema = schema.as_object_mut().unwrap();
        let told = sentences(
            schema,
            &[
                "minimum",
                "maximum",
                "default",
                "uniqueItems",
                "format",
                "pattern",
            ],
        );
        tell(schema, &told);
        assert_eq!(
            schema["description"],
            "How many. At least 1. At most 50. Default: 5. Format: uuid."
        );
        tell(schema, &told);
        assert_eq!(
            schema["description"],
            "How many. At least 1. At most 50. Default: 5. Format: uuid."
        );
    }

    #[test]
    fn what_is_told_is_bounded() {
        let values: Vec<_> = (0..1000)
            .map(|n| json!(format!("{n}").repeat(100)))
            .collect();
        let schema = json!({"enum": values});
        let told = sentences(schema.as_object().unwrap(), &["enum"]).concat();
        assert!(told.ends_with("and 950 more."), "{told}");
        assert!(told.chars().count() < 50 * 130);
    }
}
