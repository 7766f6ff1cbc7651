//! The definitions of a schema, and their names.

use std::collections::BTreeMap;

use serde_json::Value;

use super::walk::{Object, definition, each_reference, references};

const PREFIX: &str = "#/$defs/";

/// The definitions of a schema, by name.
#[derive(Default)]
pub(super) struct Definitions(BTreeMap<String, Value>);

impl Definitions {
    /// Takes the definitions out of a root schema. A root that refers to itself becomes one of them,
    /// so that a reference means the same wherever the schema is put.
    pub(super) fn take(root: &mut Object) -> Self {
        let mut all = Self::default();
        if let Some(Value::Object(found)) = root.remove("$defs") {
            all.0.extend(found);
        }
        let name = match root.remove("title") {
            Some(Value::String(title)) => plain(&title),
            _ => "Root".to_owned(),
        };
        all.each_reference(root, |reference| {
            if let Some(name) = definition(reference) {
                *reference = format!("{PREFIX}{name}");
            }
        });
        let own = Value::Object(root.clone());
        let refers_to_root = |schema: &Value| references(schema).iter().any(|to| to == "#");
        if all.0.values().chain([&own]).any(refers_to_root) {
            let name = free(&name, |name| all.0.contains_key(name));
            all.0.insert(name.clone(), own);
            let to_root = |reference: &mut String| {
                if reference == "#" {
                    *reference = format!("{PREFIX}{name}");
                }
            };
            all.each_reference(root, to_root);
        }
        all
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Value> {
        self.0.values()
    }

    /// What a reference stands for.
    pub(super) fn get(&self, reference: &str) -> Option<&Object> {
        self.0.get(reference.strip_prefix(PREFIX)?)?.as_object()
    }

    /// Those that a root uses, itself or through others, each made ready.
    pub(super) fn used<E>(
        &self,
        root: &Value,
        ready: impl Fn(&mut Value) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut used = BTreeMap::new();
        let mut next = references(root);
        while let Some(reference) = next.pop() {
            let Some(name) = reference.strip_prefix(PREFIX) else {
                continue;
            };
            let Some(definition) = self.0.get(name).filter(|_| !used.contains_key(name)) else {
                continue;
            };
            let mut definition = definition.clone();
            ready(&mut definition)?;
            next.extend(references(&definition));
            used.insert(name.to_owned(), definition);
        }
        Ok(Self(used))
    }

    /// Puts the definitions into the root, under names that need no escapes in a reference. Types of
    /// one name are told apart by number, in the order in which the root's fields have them.
    pub(super) fn put_into(mut self, root: &mut Object) {
        let mut plain_names: BTreeMap<String, String> = BTreeMap::new();
        for name in self.0.keys() {
            let taken = |new: &String| plain_names.values().any(|name| name == new);
            let new = free(&plain(name), taken);
            plain_names.insert(name.clone(), new);
        }
        self.each_reference(root, |reference| {
            let name = reference.strip_prefix(PREFIX);
            if let Some(new) = name.and_then(|name| plain_names.get(name)) {
                *reference = format!("{PREFIX}{new}");
            }
        });
        let renamed = self
            .0
            .into_iter()
            .filter_map(|(name, definition)| Some((plain_names.get(&name)?.clone(), definition)));
        let definitions: Object = renamed.collect();
        if !definitions.is_empty() {
            root.insert("$defs".to_owned(), Value::Object(definitions));
        }
    }

    fn each_reference(&mut self, root: &mut Object, mut change: impl FnMut(&mut String)) {
        for definition in self.0.values_mut() {
            each_reference(definition, &mut change);
        }
        let mut own = Value::Object(std::mem::take(root));
        each_reference(&mut own, &mut change);
        if let Value::Object(own) = own {
            *root = own;
        }
    }
}

/// The name, or the name with the first number at which it is not taken.
fn free(name: &str, taken: impl Fn(&String) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{name}{number}"));
    let mut candidates = std::iter::once(name.to_owned()).chain(numbered);
    candidates.find(|name| !taken(name)).unwrap_or_default()
}

/// A name without what would have to be escaped in a reference.
fn plain(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    name.chars().map(keep).collect()
}
