//! The schema of a tool as a grant's bounds leave it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Bound, BoundArgument, same, steps};
use crate::descriptor::ToolDescriptor;
use crate::schema::CompiledSchema;
use crate::schema::walk::{definition, pointer, references};

/// At most this many references are followed on the way to one place.
const MAX_REFERENCES: usize = 32;

/// The descriptor as the bounds leave it; `None` when no call of the tool could keep them.
#[must_use]
pub(crate) fn narrowed<'b>(
    descriptor: &ToolDescriptor,
    bounds: impl IntoIterator<Item = &'b BoundArgument>,
) -> Option<ToolDescriptor> {
    let mut descriptor = descriptor.clone();
    for bound in bounds {
        let root = descriptor.parameters_schema.clone();
        let place = Narrowing { root: &root, bound };
        let schema = &mut descriptor.parameters_schema;
        match steps(&bound.at)?.as_slice() {
            [] => place.whole(schema)?,
            steps => place.descend(schema, steps, 0)?,
        }
    }
    drop_unused_definitions(&mut descriptor.parameters_schema);
    Some(descriptor)
}

/// Takes away the definitions that nothing refers to any more: they would still tell what the bounds do
/// not allow.
fn drop_unused_definitions(schema: &mut Value) {
    let Some(Value::Object(definitions)) =
        schema.as_object_mut().and_then(|root| root.remove("$defs"))
    else {
        return;
    };
    let mut used = BTreeSet::new();
    let mut next = references(schema);
    while let Some(reference) = next.pop() {
        let found = definition(&reference).and_then(|name| definitions.get_key_value(&name));
        if let Some((name, found)) = found.filter(|(name, _)| !used.contains(*name)) {
            next.extend(references(found));
            used.insert(name.clone());
        }
    }
    let left: Map<_, _> = definitions
        .into_iter()
        .filter(|(name, _)| used.contains(name))
        .collect();
    if let (Some(root), false) = (schema.as_object_mut(), left.is_empty()) {
        root.insert("$defs".to_owned(), Value::Object(left));
    }
}

/// One bound on its way into a schema.
struct Narrowing<'a> {
    root: &'a Value,
    bound: &'a BoundArgument,
}

impl Narrowing<'_> {
    /// Goes down to the place, and narrows it; `None` when it cannot be held to the bound.
    fn descend(&self, schema: &mut Value, steps: &[String], references: usize) -> Option<()> {
        let Some((step, rest)) = steps.split_first() else {
            return self.narrow(schema);
        };
        let object = schema.as_object_mut()?;
        if let Some(Value::String(reference)) = object.get("$ref") {
            // The definition is used elsewhere too, so it is narrowed in a copy of its own.
            let target = self.root.pointer(&pointer(reference)?)?.clone();
            if references == MAX_REFERENCES {
                return None;
            }
            let description = object.remove("description");
            *schema = target;
            describe(schema, description);
            return self.descend(schema, steps, references + 1);
        }
        for union in ["oneOf", "anyOf"] {
            if let Some(Value::Array(alternatives)) = object.get_mut(union) {
                alternatives.retain_mut(|one| self.descend(one, steps, references).is_some());
                return (!alternatives.is_empty()).then_some(());
            }
        }
        let named = object
            .get("properties")
            .and_then(|all| all.get(step))
            .cloned();
        let further = object
            .get("additionalProperties")
            .filter(|further| further.is_object());
        let Some(mut inner) = named.or_else(|| further.cloned()) else {
            // It takes no such argument: that is kept only by leaving it out.
            return self.bound.may_be_absent.then_some(());
        };
        let is_forbidden = rest.is_empty() && self.bound.to == Bound::OneOf(Vec::new());
        let kept = match is_forbidden {
            true => None,
            false => self.descend(&mut inner, rest, references),
        };
        let required = object.entry("required").or_insert_with(|| json!([]));
        let required = required.as_array_mut()?;
        let is_required = required.iter().any(|name| name == step);
        match kept {
            Some(()) if self.bound.may_be_absent || is_required => {}
            Some(()) => required.push(json!(step)),
            None if self.bound.may_be_absent && !is_required => {}
            None => return None,
        }
        if required.is_empty() {
            object.remove("required");
        }
        let properties = object.entry("properties").or_insert_with(|| json!({}));
        let properties = properties.as_object_mut()?;
        match kept {
            Some(()) => drop(properties.insert(step.clone(), inner)),
            None => drop(properties.remove(step)),
        }
        Some(())
    }

    /// Narrows the schema of the place itself.
    fn narrow(&self, schema: &mut Value) -> Option<()> {
        let allowed = match &self.bound.to {
            Bound::OneOf(values) => values,
            Bound::Within(start) => return self.narrow_to_start(schema, start),
        };
        let fits = self.fits(schema)?;
        let values: Vec<_> = allowed.iter().filter(|value| fits(value)).collect();
        let description = schema.get("description").cloned();
        *schema = one_of(&values)?;
        describe(schema, description);
        Some(())
    }

    fn narrow_to_start(&self, schema: &mut Value, start: &str) -> Option<()> {
        let fits = self.fits(schema)?;
        let inside = format!("{}/a", start.trim_end_matches('/'));
        if !fits(&json!(start)) && !fits(&json!(inside)) {
            return None;
        }
        let told = schema.get("description").and_then(Value::as_str);
        let rule = format!("`{start}`, or what is below it.");
        let told = told.map_or_else(|| rule.clone(), |told| format!("{told}\n{rule}"));
        let end = if start.ends_with('/') { "" } else { "(/|$)" };
        let mut narrow = Map::new();
        narrow.insert("type".to_owned(), json!("string"));
        narrow.insert("description".to_owned(), json!(told));
        narrow.insert(
            "pattern".to_owned(),
            json!(format!("^{}{end}", escaped_pattern(start))),
        );
        // What the argument's own schema says of texts is nearer than the start of one.
        let own = ["pattern", "minLength", "maxLength", "format"].into_iter();
        narrow.extend(own.filter_map(|key| Some((key.to_owned(), schema.get(key)?.clone()))));
        *schema = Value::Object(narrow);
        Some(())
    }

    /// The arguments as a whole: each of them is what it is in one of the allowed wholes. The gate
    /// knows which go together.
    fn whole(&self, schema: &mut Value) -> Option<()> {
        let Bound::OneOf(values) = &self.bound.to else {
            return None;
        };
        let fits = self.fits(schema)?;
        let wholes: Vec<&Map<String, Value>> = values
            .iter()
            .filter(|value| fits(value))
            .filter_map(Value::as_object)
            .collect();
        if wholes.is_empty() {
            return None;
        }
        let told = schema.get("properties").cloned().unwrap_or_default();
        let mut properties = Map::new();
        let mut required = Vec::new();
        for name in wholes.iter().flat_map(|whole| whole.keys()) {
            if properties.contains_key(name) {
                continue;
            }
            let mut values: Vec<&Value> = Vec::new();
            for value in wholes.iter().filter_map(|whole| whole.get(name)) {
                if !values.iter().any(|one| same(one, value)) {
                    values.push(value);
                }
            }
            let mut property = one_of(&values)?;
            describe(
                &mut property,
                told.get(name)
                    .and_then(|told| told.get("description"))
                    .cloned(),
            );
            properties.insert(name.clone(), property);
            if wholes.iter().all(|whole| whole.contains_key(name)) {
                required.push(json!(name));
            }
        }
        let description = schema.get("description").cloned();
        *schema = json!({
            "type": "object", "properties": properties, "required": required,
            "additionalProperties": false,
        });
        describe(schema, description);
        Some(())
    }

    /// What the schema of the place takes, with the definitions of the root.
    fn fits(&self, schema: &Value) -> Option<impl Fn(&Value) -> bool + use<>> {
        let mut alone = schema.clone();
        if let (Some(definitions), Some(object)) = (self.root.get("$defs"), alone.as_object_mut()) {
            object.insert("$defs".to_owned(), definitions.clone());
        }
        let compiled = CompiledSchema::new(&alone).ok()?;
        Some(move |value: &Value| compiled.check(value).is_ok())
    }
}

/// The schema of these values; `None` where there is none.
fn one_of(values: &[&Value]) -> Option<Value> {
    let kind = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let first = kind(values.first()?);
    let mut schema = Map::new();
    if values.iter().all(|value| kind(value) == first) {
        schema.insert("type".to_owned(), json!(first));
    }
    match values {
        [one] => schema.insert("const".to_owned(), (*one).clone()),
        several => schema.insert("enum".to_owned(), json!(several)),
    };
    Some(Value::Object(schema))
}

fn describe(schema: &mut Value, description: Option<Value>) {
    if let (Some(description), Some(object)) = (description, schema.as_object_mut()) {
        object.insert("description".to_owned(), description);
    }
}

/// Text as a regular expression that stands for itself (ECMA-262).
fn escaped_pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(
            c,
            '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|'
        ) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}
