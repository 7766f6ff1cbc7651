//! Whether a path can find anything in the values that a schema takes.

use std::collections::{HashMap, HashSet};
use std::ptr;

use serde_json::{Value, json};

use super::path::{RedactionPath, Step, finds};
use crate::schema::CompiledSchema;
use crate::schema::walk::{Object, pointer};

/// Schemas within schemas, and the references between, that are followed on the way to one place.
/// What is further in counts as told: it is not known that nothing is there.
const MAX_DEPTH: usize = 512;

/// What a schema says of the place that a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// No value that the schema takes has anything there.
    Never,
    /// The schema names other members on the way, and neither the one of the path nor that there
    /// are no others. A value may have it; in the schema of a result, which is open so that it may
    /// grow, it is most likely a name that is misspelt.
    Unsaid,
    /// The schema names the place, or says that anything may stand there.
    Told,
}

/// Whether the path finds something in any value that the schema takes: it is not
/// [`Reach::Never`].
///
/// Where it is false, nothing is there, whatever the value. Where it is true there may still be
/// nothing, by a keyword that is not looked at: `contains`, `propertyNames`, `if`, the bounds of numbers
/// and texts, and the like.
#[must_use]
pub fn can_match(path: &RedactionPath, schema: &Value) -> bool {
    reach(path, schema) != Reach::Never
}

/// What the schema says of the path's place. The schema is the root of one in this project's normal
/// form: references lead to its own `$defs`.
#[must_use]
pub fn reach(path: &RedactionPath, schema: &Value) -> Reach {
    // Schemas may hold themselves. So this looks for the least answer that agrees with itself:
    // each round takes for what is still being looked at what the round before found. What is found
    // only grows from round to round, and has an end.
    let mut before = HashMap::new();
    loop {
        let mut round = Round {
            root: schema,
            before: &before,
            found: HashMap::new(),
            depth: 0,
        };
        let reach = round.of(schema, path.steps());
        let found = round.found;
        if found == before {
            return reach;
        }
        before = found;
    }
}

/// A schema by its address in the root, and how many steps of the path are left there.
type Place = (*const Value, usize);

struct Round<'s> {
    root: &'s Value,
    before: &'s HashMap<Place, Reach>,
    found: HashMap<Place, Reach>,
    depth: usize,
}

impl<'s> Round<'s> {
    fn of(&mut self, schema: &'s Value, steps: &[Step]) -> Reach {
        let place = (ptr::from_ref(schema), steps.len());
        if let Some(found) = self.found.get(&place) {
            return *found;
        }
        if self.depth == MAX_DEPTH {
            return Reach::Told;
        }
        let before = self.before.get(&place).copied().unwrap_or(Reach::Never);
        self.found.insert(place, before);
        self.depth += 1;
        let found = match schema {
            Value::Bool(true) => Reach::Told,
            Value::Object(object) => self.of_object(object, steps),
            _ => Reach::Never,
        };
        self.depth -= 1;
        self.found.insert(place, found);
        found
    }

    /// All that stands in one schema holds at once: one `Never` is enough, and what any part tells
    /// is told.
    fn of_object(&mut self, object: &'s Object, steps: &[Step]) -> Reach {
        let mut parts = vec![self.by_itself(object, steps)];
        if let Some(Value::String(reference)) = object.get("$ref") {
            let target = target(self.root, reference);
            parts.push(target.map_or(Reach::Never, |target| self.of(target, steps)));
        }
        parts.extend(list(object, "allOf").map(|part| self.of(part, steps)));
        for union in ["anyOf", "oneOf"]
            .into_iter()
            .filter(|key| object.contains_key(*key))
        {
            let alternatives = list(object, union).map(|one| self.of(one, steps));
            parts.push(alternatives.max().unwrap_or(Reach::Never));
        }
        if parts.contains(&Reach::Never) || self.shuts_out(object, steps) {
            return Reach::Never;
        }
        parts.into_iter().max().unwrap_or(Reach::Never)
    }

    /// What one schema says without the others that it refers to or joins.
    fn by_itself(&mut self, object: &'s Object, steps: &[Step]) -> Reach {
        let takes_none = object
            .get("not")
            .is_some_and(|not| *not == json!({}) || *not == json!(true));
        let differs = object.get("const").is_some_and(|one| !finds(steps, one));
        let differ =
            object.contains_key("enum") && !list(object, "enum").any(|one| finds(steps, one));
        if takes_none || differs || differ {
            return Reach::Never;
        }
        let Some((step, rest)) = steps.split_first() else {
            return Reach::Told;
        };
        let in_object = match takes_kind(object, "object") {
            true => self.in_members(object, step, rest),
            false => Reach::Never,
        };
        let in_array = match takes_kind(object, "array") {
            true => self.in_elements(object, step, rest),
            false => Reach::Never,
        };
        in_object.max(in_array)
    }

    fn in_members(&mut self, object: &'s Object, step: &Step, rest: &[Step]) -> Reach {
        if matches!(step, Step::Element(_)) {
            return Reach::Never;
        }
        let named = members(object, "properties").filter(|(name, _)| step.selects_member(name));
        let patterns =
            members(object, "patternProperties").filter(|(like, _)| may_be_like(step, like));
        let told = named.chain(patterns).map(|(_, inner)| self.of(inner, rest));
        let told = told.max();
        let others = match object.get("additionalProperties") {
            _ if !has_other_spelling(step, object) => Reach::Never,
            None => unsaid(object),
            Some(inner) => self.of(inner, rest),
        };
        told.unwrap_or(Reach::Never).max(others)
    }

    fn in_elements(&mut self, object: &'s Object, step: &Step, rest: &[Step]) -> Reach {
        let most = object.get("maxItems").and_then(Value::as_u64);
        let most = most
            .and_then(|most| usize::try_from(most).ok())
            .unwrap_or(usize::MAX);
        let told = list(object, "prefixItems")
            .take(most)
            .enumerate()
            .filter(|(index, _)| step.selects_element(*index))
            .map(|(_, inner)| self.of(inner, rest))
            .max();
        let first = list(object, "prefixItems").count();
        let goes_on = match step {
            Step::Member(_) => false,
            Step::Element(index) => (first..most).contains(index),
            Step::Every => first < most,
        };
        let others = match object.get("items") {
            _ if !goes_on => Reach::Never,
            None => unsaid(object),
            Some(inner) => self.of(inner, rest),
        };
        told.unwrap_or(Reach::Never).max(others)
    }

    /// Whether an object that is told in several parts takes only what one of them names, and none
    /// names what the step selects.
    fn shuts_out(&self, object: &'s Object, steps: &[Step]) -> bool {
        let is_closed = object.get("unevaluatedProperties") == Some(&json!(false));
        let only_objects = object.get("type") == Some(&json!("object"));
        steps.first().is_some_and(|step| {
            is_closed
                && (only_objects || matches!(step, Step::Member(_)))
                && !self.is_named(object, step, &mut HashSet::new())
        })
    }

    fn is_named(&self, object: &'s Object, step: &Step, seen: &mut HashSet<&'s str>) -> bool {
        if seen.len() == MAX_DEPTH {
            return true;
        }
        let is_told = members(object, "properties").any(|(name, _)| step.selects_member(name))
            || members(object, "patternProperties").next().is_some()
            || object
                .get("additionalProperties")
                .is_some_and(|others| *others != json!(false));
        let referred = object.get("$ref").and_then(Value::as_str);
        let referred = referred
            .filter(|reference| seen.insert(reference))
            .and_then(|reference| target(self.root, reference));
        is_told
            || ["allOf", "anyOf", "oneOf"]
                .into_iter()
                .flat_map(|key| list(object, key))
                .chain(referred)
                .filter_map(Value::as_object)
                .any(|part| self.is_named(part, step, seen))
    }
}

fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.pointer(&pointer(reference)?)
}

fn list<'s>(object: &'s Object, keyword: &str) -> impl Iterator<Item = &'s Value> + use<'s> {
    object
        .get(keyword)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn members<'s>(
    object: &'s Object,
    keyword: &str,
) -> impl Iterator<Item = (&'s String, &'s Value)> + use<'s> {
    object
        .get(keyword)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

fn takes_kind(object: &Object, wanted: &str) -> bool {
    match object.get("type") {
        None => true,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == wanted),
        Some(kind) => kind == wanted,
    }
}

/// Of a place that a schema has no word for: where it has none for any other place either, and joins
/// no schema that has, it is one that anything may stand in.
fn unsaid(object: &Object) -> Reach {
    let keywords = ["properties", "patternProperties", "prefixItems"];
    let names =
        |key: &&str| members(object, key).next().is_some() || list(object, key).next().is_some();
    let joins = ["$ref", "allOf", "anyOf", "oneOf"];
    if keywords.iter().any(names) || joins.iter().any(|key| object.contains_key(*key)) {
        Reach::Unsaid
    } else {
        Reach::Told
    }
}

/// Whether the step selects a name that is none of the properties as they are spelt.
fn has_other_spelling(step: &Step, object: &Object) -> bool {
    let Step::Member(wanted) = step else {
        return true;
    };
    wanted.contains(|c: char| c.is_ascii_alphabetic())
        || members(object, "properties").all(|(name, _)| name != wanted)
}

/// Whether a name that the step selects may be like the pattern; where the pattern cannot be tried
/// without case, it may.
fn may_be_like(step: &Step, pattern: &str) -> bool {
    let Step::Member(name) = step else {
        return true;
    };
    CompiledSchema::new(&json!({"pattern": format!("(?i){pattern}")}))
        .map_or(true, |schema| schema.check(&json!(name)).is_ok())
}

#[cfg(test)]
mod tests;
