//! What is known of the values that fit several schemas at once.
//!
//! INVARIANT: every fact holds for each such value. A keyword that is not read here only makes the set
//! look larger than it is, never smaller.

use std::ops::BitOr;

use serde_json::{Map, Value};

use super::number::{Num, equal};
use super::plain::Place;
use super::range::{End, Side, ends};
use super::types::Types;

/// The values that fit all of several schemas.
#[derive(Debug, Clone)]
pub(super) struct Set<'a> {
    /// The schemas, references and `allOf` followed.
    pub(super) parts: Vec<Place<'a>>,
    /// The types that such a value can have.
    pub(super) types: Types,
    /// If they can be listed: a list that holds them all.
    pub(super) values: Option<Vec<&'a Value>>,
    /// The lists of alternatives of which one was taken.
    taken: Vec<&'a Vec<Value>>,
}

impl<'a> Set<'a> {
    /// Every value there is.
    pub(super) fn all() -> Self {
        Self {
            parts: Vec::new(),
            types: Types::ALL,
            values: None,
            taken: Vec::new(),
        }
    }

    pub(super) fn of(place: Place<'a>) -> Self {
        Self::all().and(place)
    }

    /// Those that fit this schema too.
    pub(super) fn and(mut self, place: Place<'a>) -> Self {
        self.add(place);
        self.settle()
    }

    fn add(&mut self, place: Place<'a>) {
        if self.parts.iter().any(|part| part.is(place)) {
            return;
        }
        self.parts.push(place);
        let is_anything = |schema: &Value| schema.as_object().is_some_and(Map::is_empty);
        if place.schema == &Value::Bool(false) || place.get("not").is_some_and(is_anything) {
            self.types = Types::NONE;
        }
        if let Some(types) = place.get("type").and_then(Types::named) {
            self.types &= types;
        }
        if let Some(list) = place.get("enum").and_then(Value::as_array) {
            self.keep_listed(list.iter().collect());
        }
        if let Some(only) = place.get("const") {
            self.keep_listed(vec![only]);
        }
        if let Some(target) = place.target() {
            self.add(target);
        }
        for part in place.list("allOf") {
            self.add(part);
        }
    }

    fn keep_listed(&mut self, list: Vec<&'a Value>) {
        match &mut self.values {
            Some(values) => values.retain(|value| list.iter().any(|it| equal(it, value))),
            None => self.values = Some(list),
        }
    }

    fn settle(mut self) -> Self {
        if let Some(values) = &mut self.values {
            values.retain(|value| Types::of(value).is_within(self.types));
            let types = values.iter().map(|value| Types::of(value));
            self.types = types.fold(Types::NONE, BitOr::bitor);
        }
        self
    }

    /// Those of these types alone.
    pub(super) fn of_types(mut self, types: Types) -> Self {
        self.types &= types;
        self.settle()
    }

    /// This value alone, of those that are listed.
    pub(super) fn of_value(mut self, value: &'a Value) -> Self {
        self.values = Some(vec![value]);
        self.settle()
    }

    /// Known to have no value.
    pub(super) fn is_empty(&self) -> bool {
        self.types.is_none()
    }

    /// One set for each alternative of the first list of them that was not taken yet; together they
    /// hold all of this set.
    pub(super) fn alternatives(&self) -> Option<Vec<Self>> {
        let (place, list) = self.parts.iter().find_map(|part| {
            ["anyOf", "oneOf"].iter().find_map(|keyword| {
                let list = part.get(keyword)?.as_array()?;
                let is_taken = self.taken.iter().any(|it| std::ptr::eq(*it, list));
                (!is_taken && !list.is_empty()).then_some((*part, list))
            })
        })?;
        let each = list.iter().map(|alternative| {
            let mut set = self.clone();
            set.taken.push(list);
            set.and(place.to(alternative))
        });
        Some(each.collect())
    }

    /// The numbers of the listed values, if the values are listed.
    pub(super) fn numbers(&self) -> Option<Vec<Num>> {
        let numbers = self
            .values
            .as_ref()?
            .iter()
            .filter_map(|value| match value {
                Value::Number(number) => Num::of(number),
                _ => None,
            });
        Some(numbers.collect())
    }

    /// The tightest end of the range of its numbers.
    pub(super) fn end(&self, side: Side) -> Option<End> {
        let only_integers = (self.types & Types::NUMBER).is_within(Types::INTEGER);
        let ends = self.parts.iter().flat_map(|part| ends(*part, side));
        let ends = ends.map(|end| match only_integers {
            true => end.for_integers(side),
            false => end,
        });
        ends.reduce(|one, other| match one.is_within(other, side) {
            true => one,
            false => other,
        })
    }

    /// The tightest of a bound that counts, such as `minLength`.
    pub(super) fn count(&self, keyword: &str) -> Option<i128> {
        let counts = self
            .parts
            .iter()
            .filter_map(|part| count(part.get(keyword)?));
        match keyword.starts_with("min") {
            true => counts.max(),
            false => counts.min(),
        }
    }

    /// The names that every one of its objects has.
    pub(super) fn required(&self) -> impl Iterator<Item = &'a str> {
        let parts = self.parts.iter();
        let lists = parts.filter_map(|part| part.get("required")?.as_array());
        lists.flatten().filter_map(Value::as_str)
    }

    /// What fits under a name that some schema spells out.
    pub(super) fn under(&self, name: &str) -> Self {
        let each = self.parts.iter().filter_map(|part| {
            let named = part.get("properties").and_then(|map| map.get(name));
            match named {
                Some(schema) => Some(part.to(schema)),
                // A pattern may match the name, and then the rest is not asked.
                None if has_patterns(*part) => None,
                None => part.get("additionalProperties").map(|it| part.to(it)),
            }
        });
        each.fold(Self::all(), Self::and)
    }

    /// What fits under names that no schema spells out: one set for each way that such a name can be
    /// taken. A name that matches one of `exempt` is left out.
    pub(super) fn under_others(&self, exempt: &[&str]) -> Vec<Self> {
        let plain = self.parts.iter().filter(|part| !has_patterns(**part));
        let rest = plain
            .filter_map(|part| part.get("additionalProperties").map(|it| part.to(it)))
            .fold(Self::all(), Self::and);
        let Some(part) = self.parts.iter().find(|part| has_patterns(**part)) else {
            return vec![rest];
        };
        let beyond = match part.get("additionalProperties") {
            Some(schema) => rest.clone().and(part.to(schema)),
            None => rest.clone(),
        };
        let matching = part
            .map("patternProperties")
            .filter(|(pattern, _)| !exempt.contains(&pattern.as_str()))
            .map(|(_, place)| rest.clone().and(place));
        matching.chain([beyond]).collect()
    }

    /// What fits at an index of its arrays.
    pub(super) fn at(&self, index: usize) -> Self {
        let each = self.parts.iter().filter_map(|part| {
            let prefix = part.get("prefixItems").and_then(Value::as_array);
            let schema = prefix.and_then(|list| list.get(index));
            schema.or(part.get("items")).map(|it| part.to(it))
        });
        each.fold(Self::all(), Self::and)
    }

    /// The longest list of `prefixItems`.
    pub(super) fn prefix(&self) -> usize {
        let lists = self.parts.iter();
        let lists = lists.filter_map(|part| part.get("prefixItems")?.as_array());
        lists.map(Vec::len).max().unwrap_or(0)
    }
}

fn has_patterns(place: Place<'_>) -> bool {
    place.map("patternProperties").next().is_some()
}

/// A bound that counts.
pub(super) fn count(bound: &Value) -> Option<i128> {
    match bound {
        Value::Number(number) => match Num::of(number)? {
            Num::Int(int) => Some(int),
            Num::Float(_) => None,
        },
        _ => None,
    }
}
