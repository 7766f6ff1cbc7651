//! Questions about what schemas take, answered with a no wherever that is not sure.

use std::cell::Cell;

use serde_json::{Map, Value, json};

use super::super::place;

/// How many references and alternatives in a row are followed.
const FOLLOWED: usize = 8;
/// The most alternatives of one union that are looked at.
const COMPARED: usize = 64;
/// How many questions are answered for one document.
const QUESTIONS: usize = 100_000;

/// What is asked of the schemas of one document.
pub(super) struct Questions<'a> {
    root: &'a Value,
    left: Cell<usize>,
}

impl<'a> Questions<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self {
            root,
            left: Cell::new(QUESTIONS),
        }
    }

    /// Whether leaving a property out means what `null` means: it takes `null`, and its default is
    /// nothing else.
    pub(super) fn absent_is_null(&self, schema: &Value) -> bool {
        let plain = schema
            .get("default")
            .is_none_or(|default| default.is_null());
        plain && self.takes_null(schema, 0)
    }

    /// Whether surely no value fits two of these schemas.
    pub(super) fn all_apart(&self, schemas: &[Value]) -> bool {
        let mut rest = schemas;
        while let Some((first, others)) = rest.split_first() {
            if rest.len() > COMPARED || !others.iter().all(|other| self.apart(first, other, 0)) {
                return false;
            }
            rest = others;
        }
        true
    }

    /// Whether one more question may be asked; a question that may not is answered with a no.
    fn may_ask(&self, followed: usize) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0 && followed <= FOLLOWED
    }

    /// Whether a schema surely takes `null`.
    fn takes_null(&self, schema: &Value, followed: usize) -> bool {
        let Some(schema) = schema.as_object().filter(|_| self.may_ask(followed)) else {
            return false;
        };
        if ["not", "if", "allOf"]
            .iter()
            .any(|key| schema.contains_key(*key))
        {
            return false;
        }
        let typed = place::types(schema).is_none_or(|types| types.contains(&"null"));
        let listed = match schema.get("enum") {
            Some(Value::Array(values)) => values.contains(&Value::Null),
            Some(_) => false,
            None => true,
        };
        let constant = schema.get("const").is_none_or(Value::is_null);
        let referred = schema.get("$ref").is_none_or(|reference| {
            reference
                .as_str()
                .and_then(|reference| place::target(self.root, reference))
                .is_some_and(|target| self.takes_null(target, followed + 1))
        });
        let takes = |inner: &Value| self.takes_null(inner, followed + 1);
        let null = json!({"type": "null"});
        let refuses = |inner: &Value| self.apart(inner, &null, followed + 1);
        let alternatives = |key: &str| schema.get(key).map(|list| list.as_array());
        let any = alternatives("anyOf")
            .is_none_or(|list| list.is_some_and(|list| list.iter().any(takes)));
        let one = alternatives("oneOf").is_none_or(|list| {
            list.is_some_and(|list| {
                let others = list.iter().filter(|inner| !refuses(inner));
                list.iter().any(takes) && others.count() == 1
            })
        });
        typed && listed && constant && referred && any && one
    }

    /// Whether surely no value fits both schemas.
    fn apart(&self, one: &Value, other: &Value, followed: usize) -> bool {
        match (one.as_object(), other.as_object()) {
            (Some(one), Some(other)) => self.objects_apart(one, other, followed),
            _ => false,
        }
    }

    fn objects_apart(
        &self,
        one: &Map<String, Value>,
        other: &Map<String, Value>,
        followed: usize,
    ) -> bool {
        if !self.may_ask(followed) {
            return false;
        }
        for (schema, opposite) in [(one, other), (other, one)] {
            let is_apart = |inner: &Value| {
                inner
                    .as_object()
                    .is_some_and(|inner| self.objects_apart(inner, opposite, followed + 1))
            };
            let target =
                place::reference(schema).and_then(|reference| place::target(self.root, reference));
            if target.is_some_and(is_apart) {
                return true;
            }
            for key in ["anyOf", "oneOf"] {
                if let Some(Value::Array(alternatives)) = schema.get(key)
                    && alternatives.len() <= COMPARED
                    && alternatives.iter().all(is_apart)
                {
                    return true;
                }
            }
        }
        if let (Some(some), Some(others)) = (place::types(one), place::types(other)) {
            let meets = |a: &str, b: &str| {
                a == b || matches!((a, b), ("integer", "number") | ("number", "integer"))
            };
            if !some.iter().any(|a| others.iter().any(|b| meets(a, b))) {
                return true;
            }
        }
        if let (Some(some), Some(others)) = (values(one), values(other)) {
            return !some.iter().any(|value| others.contains(value));
        }
        let objects = place::types(one).as_deref() == Some(&["object"])
            && place::types(other).as_deref() == Some(&["object"]);
        objects && (tags_differ(one, other) || refuses(one, other) || refuses(other, one))
    }
}

/// Whether both require a property whose fixed values differ.
fn tags_differ(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let fixed = |schema: &Map<String, Value>, name: &str| {
        let inner = schema.get("properties")?.get(name)?.as_object()?;
        values(inner).map(|values| values.into_iter().cloned().collect::<Vec<_>>())
    };
    place::required(one)
        .into_iter()
        .filter(|name| place::required(other).contains(name))
        .any(|name| match (fixed(one, name), fixed(other, name)) {
            (Some(some), Some(others)) => !some.iter().any(|value| others.contains(value)),
            _ => false,
        })
}

/// Whether `closed` refuses a property that `other` requires.
fn refuses(closed: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    if closed.get("additionalProperties") != Some(&Value::Bool(false))
        || closed.contains_key("patternProperties")
    {
        return false;
    }
    let named = closed.get("properties").and_then(Value::as_object);
    place::required(other)
        .into_iter()
        .any(|name| !named.is_some_and(|named| named.contains_key(name)))
}

/// The few values that a schema takes at most, where it lists them. Numbers are left out: `1` and
/// `1.0` are one value, and not equal here.
fn values(schema: &Map<String, Value>) -> Option<Vec<&Value>> {
    let listed = match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => vec![value],
        (None, Some(Value::Array(values))) => values.iter().collect(),
        _ => return None,
    };
    listed
        .iter()
        .all(|value| value.is_string() || value.is_boolean() || value.is_null())
        .then_some(listed)
}
