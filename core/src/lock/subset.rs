//! Whether one schema takes nothing that another does not take, proved or not.
//!
//! [`label`] answers *narrows* or *keeps* only where every step of the proof holds for every value;
//! whatever cannot be proved *widens*. The keywords' meaning is that of JSON Schema 2020-12 (Core,
//! sections 8 and 10, and Validation, section 6: <https://json-schema.org/draft/2020-12>). `format` is no
//! rule there, but a dropped one may be told to nobody, so that here it counts as a rule.
//!
//! References are followed. A pair of schemas that is met again while it is being proved is taken as
//! proved, provided that the proof went down into a property or an item in between: by induction
//! over the depth of a value. Met again at the same depth, it is not.

mod apart;
mod facts;
mod number;
mod plain;
mod range;
#[cfg(test)]
pub(super) mod tests;
mod types;

use serde_json::Value;

use self::facts::{Set, count};
use self::number::equal;
use self::range::{End, Side, end};
use self::types::Types;
use super::change::Label;

pub(super) use self::plain::{ANNOTATIONS, Place, Plain, pointer_of};

/// The most steps of one proof; one that takes more is none.
const MAX_STEPS: u32 = 50_000;
/// The deepest that a proof goes.
const MAX_NESTING: u32 = 160;

/// Keywords that mean something only together, and of which nothing but sameness is proved.
const GROUPS: [&[&str]; 4] = [
    &["if", "then", "else"],
    &["contains", "minContains", "maxContains"],
    &["propertyNames"],
    &["dependentSchemas"],
];

/// What becomes of the values that a schema takes, when `old` is replaced by `new`.
#[must_use]
pub(super) fn label(new: Place<'_>, old: Place<'_>) -> Label {
    if !takes_no_more(new, old) {
        Label::Widens
    } else if takes_no_more(old, new) {
        Label::Keeps
    } else {
        Label::Narrows
    }
}

/// Whether everything that `one` takes is proved to be taken by `other`.
#[must_use]
pub(super) fn takes_no_more(one: Place<'_>, other: Place<'_>) -> bool {
    if one.root.is_foreign || other.root.is_foreign {
        return false;
    }
    let mut proof = Proof {
        steps: MAX_STEPS,
        nesting: 0,
        depth: 0,
        met: Vec::new(),
    };
    proof.is_within(&Set::of(one), other)
}

/// A pair that was met on the way, and how deep in the value.
struct Met<'a> {
    set: Set<'a>,
    goal: Place<'a>,
    depth: u32,
    is_proved: bool,
}

struct Proof<'a> {
    steps: u32,
    nesting: u32,
    /// How many properties and items lie between the root of the value and here.
    depth: u32,
    met: Vec<Met<'a>>,
}

impl<'a> Proof<'a> {
    /// One step deeper into the proof; `false` when there is no room for it.
    fn step(&mut self, prove: impl FnOnce(&mut Self) -> bool) -> bool {
        if self.steps == 0 || self.nesting >= MAX_NESTING {
            return false;
        }
        self.steps -= 1;
        self.nesting += 1;
        let proved = prove(self);
        self.nesting -= 1;
        proved
    }

    /// The same for what stands under a property or an item.
    fn below(&mut self, set: &Set<'a>, goal: Place<'a>) -> bool {
        self.depth += 1;
        let proved = self.is_within(set, goal);
        self.depth -= 1;
        proved
    }

    fn is_within(&mut self, set: &Set<'a>, goal: Place<'a>) -> bool {
        if set.is_empty() || set.parts.iter().any(|part| part.is_same(goal)) {
            return true;
        }
        self.step(|proof| proof.keywords(set, goal) || proof.by_cases(set, goal))
    }

    /// The set in parts, each of which is within the goal.
    fn by_cases(&mut self, set: &Set<'a>, goal: Place<'a>) -> bool {
        if let Some(alternatives) = set.alternatives() {
            return alternatives.iter().all(|part| self.is_within(part, goal));
        }
        if let Some(values) = set.values.as_ref().filter(|values| values.len() > 1) {
            return values
                .iter()
                .all(|value| self.is_within(&set.clone().of_value(value), goal));
        }
        let units = Types::UNITS.into_iter().filter(|it| set.types.has(*it));
        let units: Vec<Types> = units.collect();
        units.len() > 1
            && units
                .iter()
                .all(|unit| self.is_within(&set.clone().of_types(*unit), goal))
    }

    fn keywords(&mut self, set: &Set<'a>, goal: Place<'a>) -> bool {
        match goal.schema {
            Value::Object(map) => map
                .iter()
                .all(|(keyword, value)| self.keyword(set, goal, keyword, value)),
            // `false` takes nothing, and what is no schema is not understood.
            _ => false,
        }
    }

    /// Whether every value of the set passes one keyword of the goal.
    fn keyword(&mut self, set: &Set<'a>, goal: Place<'a>, keyword: &str, value: &'a Value) -> bool {
        match keyword {
            "$defs" | "definitions" => true,
            "$ref" => goal
                .target()
                .is_some_and(|target| self.reference(set, target)),
            "type" => Types::named(value).is_some_and(|types| set.types.is_within(types)),
            "enum" => value.as_array().is_some_and(|list| is_listed(set, list)),
            "const" => is_listed(set, std::slice::from_ref(value)),
            "minimum" => is_inside(set, end(value, false), Side::Lower),
            "exclusiveMinimum" => is_inside(set, end(value, true), Side::Lower),
            "maximum" => is_inside(set, end(value, false), Side::Upper),
            "exclusiveMaximum" => is_inside(set, end(value, true), Side::Upper),
            "multipleOf" => !set.types.has(Types::NUMBER) || has_equal(set, keyword, value),
            "minLength" | "maxLength" => {
                !set.types.has(Types::STRING) || is_counted(set, keyword, value)
            }
            "pattern" => !set.types.has(Types::STRING) || has_equal(set, keyword, value),
            "minItems" | "maxItems" => {
                !set.types.has(Types::ARRAY) || is_counted(set, keyword, value)
            }
            "uniqueItems" => {
                !set.types.has(Types::ARRAY)
                    || value == &Value::Bool(false)
                    || set.count("maxItems").is_some_and(|most| most <= 1)
                    || has_equal(set, keyword, value)
            }
            "prefixItems" | "items" => !set.types.has(Types::ARRAY) || self.items(set, goal),
            "required" => {
                !set.types.has(Types::OBJECT)
                    || value.as_array().is_some_and(|names| {
                        let has = |name: &Value| set.required().any(|it| name == it);
                        names.iter().all(has)
                    })
            }
            "minProperties" | "maxProperties" => {
                !set.types.has(Types::OBJECT) || is_counted(set, keyword, value)
            }
            "properties" => {
                !set.types.has(Types::OBJECT)
                    || goal
                        .map(keyword)
                        .all(|(name, place)| self.below(&set.under(name), place))
            }
            "patternProperties" => !set.types.has(Types::OBJECT) || self.patterns(set, goal),
            "additionalProperties" => {
                !set.types.has(Types::OBJECT) || self.others(set, goal, goal.to(value))
            }
            "allOf" => goal.list(keyword).all(|part| self.is_within(set, part)),
            "anyOf" => goal.list(keyword).any(|part| self.is_within(set, part)),
            "oneOf" => self.one_of(set, goal),
            "not" => {
                let not = goal.to(value);
                let mut others = set
                    .parts
                    .iter()
                    .filter_map(|part| Some(part.to(part.get(keyword)?)));
                others.any(|other| other.is_same(not)) || self.are_apart(set, &Set::of(not))
            }
            _ => match GROUPS.iter().find(|group| group.contains(&keyword)) {
                Some(group) => has_same_group(set, goal, group),
                // Unknown keywords, `format`, `dependentRequired`: the same one says the same. What the
                // unevaluated are depends on all else in the schema.
                None => !keyword.starts_with("unevaluated") && has_equal(set, keyword, value),
            },
        }
    }

    /// A goal behind a reference, which may be met again.
    fn reference(&mut self, set: &Set<'a>, goal: Place<'a>) -> bool {
        let again = |met: &&Met<'a>| met.goal.is(goal) && is_identical(&met.set, set);
        let depth = self.depth;
        if self
            .met
            .iter()
            .filter(again)
            .any(|met| match met.is_proved {
                true => depth >= met.depth,
                false => depth > met.depth,
            })
        {
            return true;
        }
        if self.met.iter().filter(again).any(|met| !met.is_proved) {
            return false;
        }
        let mark = self.met.len();
        self.met.push(Met {
            set: set.clone(),
            goal,
            depth,
            is_proved: false,
        });
        let proved = self.is_within(set, goal);
        if proved {
            if let Some(met) = self.met.get_mut(mark) {
                met.is_proved = true;
            }
        } else {
            // What was proved on the way may lean on this.
            self.met.truncate(mark);
        }
        proved
    }

    /// One alternative takes all, and every other is apart from it.
    fn one_of(&mut self, set: &Set<'a>, goal: Place<'a>) -> bool {
        let alternatives: Vec<Place<'a>> = goal.list("oneOf").collect();
        alternatives.iter().any(|it| {
            self.is_within(set, *it)
                && alternatives
                    .iter()
                    .filter(|other| !other.is(*it))
                    .all(|other| self.are_apart(set, &Set::of(*other)))
        })
    }

    /// The goal's `prefixItems` and `items`.
    fn items(&mut self, set: &Set<'a>, goal: Place<'a>) -> bool {
        let is_reached = |index: usize| {
            let most = set.count("maxItems");
            most.is_none_or(|most| i128::try_from(index).is_ok_and(|index| index < most))
        };
        let prefix: Vec<Place<'a>> = goal.list("prefixItems").collect();
        let rest = goal.get("items").map(|it| goal.to(it));
        // Beyond the last place that is spelled out every index is like the next.
        let last = prefix.len().max(set.prefix());
        (0..=last).all(|index| match prefix.get(index).copied().or(rest) {
            Some(place) if is_reached(index) => self.below(&set.at(index), place),
            _ => true,
        })
    }

    /// The goal's `patternProperties`: a name that matches one here matches the same one there.
    fn patterns(&mut self, set: &Set<'a>, goal: Place<'a>) -> bool {
        goal.map("patternProperties").all(|(pattern, place)| {
            set.parts.iter().any(|part| {
                let own = part.map("patternProperties").find(|(it, _)| *it == pattern);
                own.is_some_and(|(_, own)| self.below(&Set::of(own), place))
            })
        })
    }

    /// The goal's `additionalProperties`: names that it does not spell out and has no pattern for.
    fn others(&mut self, set: &Set<'a>, goal: Place<'a>, rest: Place<'a>) -> bool {
        let is_named = |name: &str| {
            let named = goal.get("properties").and_then(Value::as_object);
            named.is_some_and(|map| map.contains_key(name))
        };
        let parts = set.parts.clone();
        let named = parts.iter().flat_map(|part| part.map("properties"));
        let exempt: Vec<&str> = goal
            .map("patternProperties")
            .map(|(pattern, _)| pattern.as_str())
            .collect();
        named
            .filter(|(name, _)| !is_named(name))
            .all(|(name, _)| self.below(&set.under(name), rest))
            && set
                .under_others(&exempt)
                .iter()
                .all(|set| self.below(set, rest))
    }
}

/// The same schemas, with the same cases taken.
fn is_identical(one: &Set<'_>, other: &Set<'_>) -> bool {
    let values = |set: &Set<'_>| -> Option<Vec<*const Value>> {
        let values = set.values.as_ref()?;
        Some(values.iter().map(|it| std::ptr::from_ref(*it)).collect())
    };
    one.types == other.types
        && one.parts.len() == other.parts.len()
        && one.parts.iter().zip(&other.parts).all(|(a, b)| a.is(*b))
        && values(one) == values(other)
}

fn is_listed(set: &Set<'_>, list: &[Value]) -> bool {
    let is_in = |value: &Value| list.iter().any(|it| equal(it, value));
    match &set.values {
        Some(values) => values.iter().all(|value| is_in(value)),
        // All that null and a boolean can be.
        None => {
            set.types.is_within(Types::NULL | Types::BOOLEAN)
                && (!set.types.has(Types::NULL) || is_in(&Value::Null))
                && (!set.types.has(Types::BOOLEAN)
                    || [true, false].map(Value::Bool).iter().all(is_in))
        }
    }
}

fn is_inside(set: &Set<'_>, bound: Option<End>, side: Side) -> bool {
    if !set.types.has(Types::NUMBER) {
        return true;
    }
    let Some(bound) = bound else {
        return false;
    };
    if let Some(numbers) = set.numbers() {
        return numbers.iter().all(|number| bound.takes(*number, side));
    }
    set.end(side).is_some_and(|end| end.is_within(bound, side))
}

/// A bound on a length or a number of things.
fn is_counted(set: &Set<'_>, keyword: &str, bound: &Value) -> bool {
    let Some(bound) = count(bound) else {
        return false;
    };
    let is_least = keyword.starts_with("min");
    let within = |found: i128| match is_least {
        true => found >= bound,
        false => found <= bound,
    };
    if is_least && bound <= 0 {
        return true;
    }
    if let Some(values) = &set.values {
        let lengths = values.iter().filter_map(|value| match value {
            Value::String(text) if keyword.ends_with("Length") => Some(text.chars().count()),
            Value::Array(items) if keyword.ends_with("Items") => Some(items.len()),
            Value::Object(map) if keyword.ends_with("Properties") => Some(map.len()),
            _ => None,
        });
        return lengths
            .map(i128::try_from)
            .all(|length| length.is_ok_and(within));
    }
    set.count(keyword).is_some_and(within)
}

fn has_equal(set: &Set<'_>, keyword: &str, value: &Value) -> bool {
    let mut own = set.parts.iter().filter_map(|part| part.get(keyword));
    own.any(|own| own == value)
}

/// One schema of the set has these keywords just as the goal has them.
fn has_same_group(set: &Set<'_>, goal: Place<'_>, group: &[&str]) -> bool {
    set.parts.iter().any(|part| {
        group
            .iter()
            .all(|keyword| match (part.get(keyword), goal.get(keyword)) {
                (None, None) => true,
                (Some(own), Some(asked)) if *keyword == "dependentSchemas" => {
                    let (own, asked) = (own.as_object(), asked.as_object());
                    own.zip(asked).is_some_and(|(own, asked)| {
                        own.keys().eq(asked.keys())
                            && own
                                .values()
                                .zip(asked.values())
                                .all(|(own, asked)| part.to(own).is_same(goal.to(asked)))
                    })
                }
                (Some(own), Some(asked)) => part.to(own).is_same(goal.to(asked)),
                _ => false,
            })
    })
}
