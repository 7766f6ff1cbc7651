//! What changed of an action's arguments, place by place and in words.
//!
//! [`subset`](super::subset) decides for the schema as a whole and at each place; this file only finds the places
//! and the words. INVARIANT: if the whole widens, some change says so, and if it does not, none does.

mod words;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use self::words::{LESS, NOT_PROVED, called, join, names, prefix, required, shown, shown_change};
use super::Label;
use super::subset::{ANNOTATIONS, Place, Plain, label, pointer_of, takes_no_more};

use Label::{Keeps, Narrows, Widens};

/// The most references that are followed to one place.
const MAX_HOPS: usize = 32;

/// A change, and what it does.
type Found = (Label, String);

/// Every change of a parameters schema.
pub(super) fn changes(old: &Value, new: &Value) -> Vec<Found> {
    if old == new {
        return Vec::new();
    }
    let (plain_old, plain_new) = (Plain::of(old), Plain::of(new));
    if plain_old.is_foreign || plain_new.is_foreign {
        let words = "changed, and cannot be compared: it is too deep, or has its own `$id`, `$anchor`, `$schema` or the like";
        return vec![(Widens, words.to_owned())];
    }
    let mut walk = Walk {
        old: Side {
            raw: old,
            plain: &plain_old,
        },
        new: Side {
            raw: new,
            plain: &plain_new,
        },
        seen: BTreeMap::new(),
        is_round: false,
    };
    let mut found = walk.place("", "");
    let whole = plain_old.at("").zip(plain_new.at(""));
    let whole = whole.map_or(Widens, |(old, new)| label(new, old));
    // What was met on the way into itself may have said too little.
    for (wanted, words) in [(Widens, NOT_PROVED), (Narrows, LESS)] {
        if whole == wanted && !found.iter().any(|(label, _)| *label == wanted) {
            found.push((wanted, words.to_owned()));
        }
    }
    if found.is_empty() {
        let words = "is written otherwise, and takes the same arguments";
        found.push((Keeps, words.to_owned()));
    }
    found
}

/// One of the two schemas, as written and in plain form.
#[derive(Clone, Copy)]
struct Side<'a> {
    raw: &'a Value,
    plain: &'a Plain,
}

impl<'a> Side<'a> {
    fn raw(self, pointer: &str) -> Option<&'a Map<String, Value>> {
        self.raw.pointer(pointer)?.as_object()
    }

    fn place(self, pointer: &str) -> Option<Place<'a>> {
        self.plain.at(pointer)
    }

    /// Where a place that is nothing but a reference leads.
    fn followed(self, pointer: &str) -> String {
        let mut here = pointer.to_owned();
        for _ in 0..MAX_HOPS {
            let alone = self
                .place(&here)
                .filter(|place| place.schema.as_object().is_some_and(|map| map.len() == 1));
            let reference = alone.and_then(|place| place.get("$ref")?.as_str());
            match reference.and_then(pointer_of) {
                Some(target) => here = target.to_owned(),
                None => break,
            }
        }
        here
    }
}

struct Walk<'a> {
    old: Side<'a>,
    new: Side<'a>,
    /// What was found at a pair of places; `None` while it is being looked at.
    seen: BTreeMap<(String, String), Option<Vec<Found>>>,
    /// A pair was met on the way into itself, so that what is missing here may be told further up.
    is_round: bool,
}

impl<'a> Walk<'a> {
    /// The changes at a place and below it.
    fn place(&mut self, old_at: &str, new_at: &str) -> Vec<Found> {
        let mut found = self.annotations(old_at, new_at);
        let (old_to, new_to) = (self.old.followed(old_at), self.new.followed(new_at));
        if old_to != old_at || new_to != new_at {
            found.extend(self.annotations(&old_to, &new_to));
        }
        let pair = (old_to.clone(), new_to.clone());
        match self.seen.get(&pair) {
            Some(Some(before)) => {
                found.extend(before.iter().cloned());
                return found;
            }
            Some(None) => {
                self.is_round = true;
                return found;
            }
            None => self.seen.insert(pair.clone(), None),
        };
        let (Some(old), Some(new)) = (self.old.place(&old_to), self.new.place(&new_to)) else {
            return found;
        };
        let here = At {
            old,
            new,
            old_at: &old_to,
            new_at: &new_to,
            whole: label(new, old),
        };
        let mut inner = Vec::new();
        if let (Value::Object(was), Value::Object(is)) = (old.schema, new.schema) {
            self.keywords(&here, was, is, &mut inner);
        }
        here.settle(&mut inner, self.is_round);
        self.seen.insert(pair, Some(inner.clone()));
        found.extend(inner);
        once(found)
    }

    /// Texts: they decide nothing, and a model reads them.
    fn annotations(&self, old_at: &str, new_at: &str) -> Vec<Found> {
        let empty = Map::new();
        let old = self.old.raw(old_at).unwrap_or(&empty);
        let new = self.new.raw(new_at).unwrap_or(&empty);
        let changed = ANNOTATIONS
            .iter()
            .filter(|key| old.get(**key) != new.get(**key));
        let words = changed.map(|key| {
            let read = match *key {
                "title" | "description" | "examples" => "; a model obeys this text, so read it",
                _ => "",
            };
            let change = shown_change(key, old.get(*key), new.get(*key));
            (Keeps, format!("{}{change}{read}", prefix(new_at)))
        });
        words.collect()
    }

    fn keywords(
        &mut self,
        here: &At<'_, 'a>,
        was: &'a Map<String, Value>,
        is: &'a Map<String, Value>,
        found: &mut Vec<Found>,
    ) {
        let keywords: BTreeSet<&str> = was.keys().chain(is.keys()).map(String::as_str).collect();
        if ["properties", "required", "additionalProperties"]
            .iter()
            .any(|keyword| keywords.contains(keyword))
        {
            self.fields(here, found);
        }
        for keyword in keywords {
            let (old, new) = (was.get(keyword), is.get(keyword));
            match (keyword, old, new) {
                (
                    "$defs" | "definitions" | "properties" | "required" | "additionalProperties",
                    ..,
                ) => {}
                ("enum", Some(Value::Array(old)), Some(Value::Array(new))) => {
                    here.values(old, new, found);
                }
                ("items" | "not", Some(_), Some(_)) => {
                    let [old, new] = here.below(&[keyword]);
                    let inner = self.place(&old, &new);
                    match keyword {
                        // What widens here narrows the whole.
                        "not" if inner.is_empty() => {}
                        "not" => found.push(self.change(here, keyword, was, is)),
                        _ => found.extend(inner),
                    }
                }
                ("anyOf" | "oneOf", Some(_), Some(_)) => self.alternatives(here, keyword, found),
                ("allOf" | "prefixItems", Some(Value::Array(a)), Some(Value::Array(b)))
                    if a.len() == b.len() =>
                {
                    for index in 0..a.len() {
                        let [old, new] = here.below(&[keyword, &index.to_string()]);
                        found.extend(self.place(&old, &new));
                    }
                }
                _ if old == new => {}
                _ => found.push(self.change(here, keyword, was, is)),
            }
        }
    }

    /// `properties`, `required` and `additionalProperties`.
    fn fields(&mut self, here: &At<'_, 'a>, found: &mut Vec<Found>) {
        let kind = if here.new_at.is_empty() {
            "argument"
        } else {
            "field"
        };
        let at = prefix(here.new_at);
        let [old_names, new_names] = [here.old, here.new].map(names);
        let [old_rest, new_rest] = [here.old, here.new].map(|it| it.get("additionalProperties"));
        let is_shut = |rest: Option<&Value>| rest == Some(&Value::Bool(false));
        let step = |side: &str, name: &str| -> [String; 2] {
            let [old, new] = here.below(&["properties", name]);
            let [old_rest, new_rest] = here.below(&["additionalProperties"]);
            match side {
                "old" => [old, new_rest],
                _ => [old_rest, new],
            }
        };
        for name in old_names.union(&new_names) {
            match (old_names.contains(name), new_names.contains(name)) {
                (true, true) => {
                    let [old, new] = here.below(&["properties", name]);
                    found.extend(self.place(&old, &new));
                }
                (true, false) if is_shut(new_rest) => {
                    found.push((Narrows, format!("{at}{kind} `{name}` is gone")));
                }
                (true, false) => {
                    let [old, new] = step("old", name);
                    let label = self.label(&old, &new);
                    let words =
                        format!("{at}{kind} `{name}` is gone, and is taken as any other name is");
                    found.push((label, words));
                }
                (false, _) if is_shut(old_rest) => {
                    found.push((Widens, format!("{at}{kind} `{name}` is new")));
                }
                (false, _) => {
                    let [old, new] = step("new", name);
                    let label = self.label(&old, &new);
                    let words =
                        format!("{at}{kind} `{name}` is new, and was taken as any other name");
                    found.push((label, words));
                }
            }
        }
        let [old_must, new_must] = [here.old, here.new].map(required);
        for name in new_must.difference(&old_must) {
            found.push((Narrows, format!("{at}{kind} `{name}` is required now")));
        }
        for name in old_must.difference(&new_must) {
            let words = match new_names.contains(name) {
                true => "is not required any more",
                false => "was required, and a call without it passes now",
            };
            found.push((Widens, format!("{at}{kind} `{name}` {words}")));
        }
        match (old_rest, new_rest) {
            (old, new) if is_shut(old) && is_shut(new) => {}
            (_, new) if is_shut(new) => {
                found.push((Narrows, format!("{at}unknown names are refused now")));
            }
            (old, _) if is_shut(old) => {
                found.push((Widens, format!("{at}unknown names are taken now")));
            }
            (None, None) => {}
            (Some(_), Some(_)) => {
                let [old, new] = here.below(&["additionalProperties"]);
                found.extend(self.place(&old, &new));
            }
            (old, new) => {
                let [old_at, new_at] = here.below(&["additionalProperties"]);
                let change = shown_change("the rule for unknown names", old, new);
                let label = self.label(&old_at, &new_at);
                found.push((label, format!("{at}{change}")));
            }
        }
    }

    /// `anyOf` and `oneOf`: alternatives are paired by what they are called.
    fn alternatives(&mut self, here: &At<'_, 'a>, keyword: &str, found: &mut Vec<Found>) {
        let at = prefix(here.new_at);
        let [old, new] = [(self.old, here.old_at), (self.new, here.new_at)].map(|(side, at)| {
            let list = side.place(at).and_then(|it| it.get(keyword)?.as_array());
            let count = list.map_or(0, Vec::len);
            let pointers = (0..count).map(|index| join(at, &[keyword, &index.to_string()]));
            let named = pointers.enumerate().map(|(index, pointer)| {
                let name = side
                    .place(&side.followed(&pointer))
                    .and_then(called)
                    .unwrap_or_else(|| format!("number {}", index + 1));
                (name, pointer)
            });
            named.collect::<Vec<(String, String)>>()
        });
        for (name, old_at) in &old {
            if let Some((_, new_at)) = new.iter().find(|(it, _)| it == name) {
                found.extend(self.place(old_at, new_at));
                continue;
            }
            let part = self.old.place(old_at);
            let is_covered = part.is_some_and(|part| takes_no_more(part, here.new));
            let label = if is_covered { Keeps } else { Narrows };
            found.push((label, format!("{at}the alternative {name} is gone")));
        }
        for (name, new_at) in new
            .iter()
            .filter(|(it, _)| old.iter().all(|(was, _)| was != it))
        {
            let part = self.new.place(new_at);
            let is_covered = part.is_some_and(|part| takes_no_more(part, here.old));
            let label = if is_covered { Keeps } else { Widens };
            found.push((label, format!("{at}the alternative {name} is new")));
        }
    }

    /// A keyword that changed. Its label is that of this change alone, where it can be seen alone.
    fn change(
        &self,
        here: &At<'_, 'a>,
        keyword: &str,
        was: &Map<String, Value>,
        is: &Map<String, Value>,
    ) -> Found {
        let written = |side: Side<'a>, at: &str| side.raw(at)?.get(keyword);
        let words = shown_change(
            keyword,
            written(self.old, here.old_at).or(was.get(keyword)),
            written(self.new, here.new_at).or(is.get(keyword)),
        );
        let mut stepped = was.clone();
        match is.get(keyword) {
            Some(value) => stepped.insert(keyword.to_owned(), value.clone()),
            None => stepped.remove(keyword),
        };
        let holds_schemas =
            |value: Option<&Value>| value.is_some_and(|it| it.is_object() || it.is_array());
        let is_alone = matches!(keyword, "type" | "enum")
            || !(holds_schemas(was.get(keyword)) || holds_schemas(is.get(keyword)));
        let stepped = Value::Object(stepped);
        let label = match is_alone && keyword != "$ref" {
            true => label(
                Place {
                    schema: &stepped,
                    root: here.old.root,
                },
                here.old,
            ),
            false => here.whole,
        };
        (label, format!("{}{words}", prefix(here.new_at)))
    }

    /// The label of a place that need not be written down: then anything is taken there.
    fn label(&self, old_at: &str, new_at: &str) -> Label {
        let anything = Plain::of(&Value::Bool(true));
        match (self.old.place(old_at), self.new.place(new_at)) {
            (Some(old), Some(new)) => label(new, old),
            (Some(old), None) => anything.at("").map_or(Widens, |new| label(new, old)),
            (None, Some(new)) => anything.at("").map_or(Widens, |old| label(new, old)),
            (None, None) => Keeps,
        }
    }
}

/// A place of both schemas.
struct At<'p, 'a> {
    old: Place<'a>,
    new: Place<'a>,
    old_at: &'p str,
    new_at: &'p str,
    /// What becomes of all that is taken here.
    whole: Label,
}

impl At<'_, '_> {
    /// The same steps down in both.
    fn below(&self, steps: &[&str]) -> [String; 2] {
        [join(self.old_at, steps), join(self.new_at, steps)]
    }

    /// `enum`, value by value.
    fn values(&self, old: &[Value], new: &[Value], found: &mut Vec<Found>) {
        let at = prefix(self.new_at);
        for value in new.iter().filter(|value| !old.contains(value)) {
            found.push((Widens, format!("{at}the value {} is new", shown(value))));
        }
        for value in old.iter().filter(|value| !new.contains(value)) {
            found.push((Narrows, format!("{at}the value {} is gone", shown(value))));
        }
    }

    /// Brings the changes at this place in line with the whole of it.
    fn settle(&self, found: &mut Vec<Found>, is_round: bool) {
        let at = prefix(self.new_at);
        let is_said = |found: &[Found], wanted: Label| found.iter().any(|(it, _)| *it == wanted);
        if self.whole == Widens {
            if !is_said(found, Widens) && !is_round {
                found.push((Widens, format!("{at}{NOT_PROVED}")));
            }
            return;
        }
        for (label, _) in found.iter_mut().filter(|(label, _)| *label == Widens) {
            *label = self.whole;
        }
        if self.whole == Narrows && !is_said(found, Narrows) && !is_round {
            found.push((Narrows, format!("{at}{LESS}")));
        }
    }
}

/// Each of them once: a definition can stand under several arguments.
fn once(found: Vec<Found>) -> Vec<Found> {
    let mut told: Vec<Found> = Vec::new();
    for (label, words) in found {
        match told.iter_mut().find(|(_, it)| *it == words) {
            Some((before, _)) => *before = label.max(*before),
            None => told.push((label, words)),
        }
    }
    told
}
