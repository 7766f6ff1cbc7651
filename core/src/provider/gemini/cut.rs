//! What stands in place of a type where it is not written out again.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::{description, place};
use super::form::{Schema, anything, either, of_type, tell};

/// How many references in a row are followed.
const FOLLOWED: usize = 8;
/// The most alternatives of a union whose types are looked at.
const MOST_FORMS: usize = 64;

/// What stands where a type inside itself is cut: its types, in any form.
pub(super) fn cut(root: &Value, target: &Value, reference: &str) -> Schema {
    let forms = match types(root, target, 0) {
        None => vec![anything()],
        Some(types) => types
            .into_iter()
            .map(|kind| match kind {
                "object" => of_type("OBJECT"),
                "string" => of_type("STRING"),
                "integer" | "number" => of_type("NUMBER"),
                "boolean" => of_type("BOOLEAN"),
                "null" => of_type("NULL"),
                _ => anything(),
            })
            .collect(),
    };
    let mut schema = either(forms);
    let name = reference.rsplit('/').next().unwrap_or(reference);
    let again = if name == "#" {
        "Again of the form of these arguments.".to_owned()
    } else {
        format!("Again a `{}`, of the form above.", description::clip(name))
    };
    tell(&mut schema, &[again]);
    schema
}

/// All types of what a schema takes; `None` where they are not known, and so may be any.
fn types<'v>(root: &'v Value, schema: &'v Value, followed: usize) -> Option<BTreeSet<&'v str>> {
    let schema = schema.as_object().filter(|_| followed <= FOLLOWED)?;
    if let Some(types) = place::types(schema) {
        return Some(types.into_iter().collect());
    }
    if let Some(reference) = place::reference(schema) {
        return types(root, place::target(root, reference)?, followed + 1);
    }
    let forms = schema.get("oneOf").or_else(|| schema.get("anyOf"))?;
    let mut all = BTreeSet::new();
    for form in forms.as_array()?.iter().take(MOST_FORMS) {
        // A union of unions is seldom more than two deep.
        all.extend(types(root, form, followed + FOLLOWED / 2)?);
    }
    (forms.as_array()?.len() <= MOST_FORMS).then_some(all)
}
