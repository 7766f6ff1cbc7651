//! What a model is told of an action.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One tool as a model sees it. It carries no action id: the catalog's key does.
///
/// The first five fields are the whole shape where the optional ones are absent; unknown fields
/// are refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolDescriptor {
    /// The tool name, `^[a-zA-Z0-9_-]{1,64}$`.
    pub name: String,
    /// One line that says what the tool does.
    pub description: String,
    /// JSON Schema (2020-12) of the arguments, always an object.
    pub parameters_schema: Value,
    /// Whether every call waits for the owner's approval, whatever a grant says.
    pub approval_required: bool,
    /// Whether a call must present a selection token.
    pub selection_token_required: bool,
    /// Whether a call must come with an idempotency key.
    #[serde(default, skip_serializing_if = "is_false")]
    pub idempotency_key_required: bool,
    /// A short human title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// JSON Schema of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What the tool promises of its effects.
    #[serde(default, skip_serializing_if = "Hints::is_empty")]
    pub hints: Hints,
}

/// What an action says of its effects; the vocabulary is MCP's tool annotations. Hints inform people and models, and
/// decide nothing about permission; after a crash they decide whether a call is run again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hints {
    /// It changes nothing.
    #[serde(skip_serializing_if = "is_false")]
    pub read_only: bool,
    /// It may overwrite or delete.
    #[serde(skip_serializing_if = "is_false")]
    pub destructive: bool,
    /// Calling it again with the same arguments changes nothing more.
    #[serde(skip_serializing_if = "is_false")]
    pub idempotent: bool,
    /// It reaches things outside the kernel's own world.
    #[serde(skip_serializing_if = "is_false")]
    pub open_world: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Hints {
    /// No hint at all.
    pub const NONE: Self = Self {
        read_only: false,
        destructive: false,
        idempotent: false,
        open_world: false,
    };

    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bare() -> ToolDescriptor {
        ToolDescriptor {
            name: "a-b".into(),
            description: "Does.".into(),
            parameters_schema: json!({"type": "object", "properties": {}}),
            approval_required: false,
            selection_token_required: true,
            idempotency_key_required: false,
            title: None,
            output_schema: None,
            hints: Hints::NONE,
        }
    }

    #[test]
    fn a_bare_descriptor_has_exactly_the_five_fields_and_round_trips() {
        let written = serde_json::to_value(bare()).unwrap();
        assert_eq!(
            written,
            json!({
                "name": "a-b", "description": "Does.",
                "parameters_schema": {"type": "object", "properties": {}},
                "approval_required": false, "selection_token_required": true
            })
        );
        assert_eq!(
            serde_json::from_value::<ToolDescriptor>(written).unwrap(),
            bare()
        );
    }

    #[test]
    fn extras_round_trip_and_unknown_or_missing_fields_are_refused() {
        let full = ToolDescriptor {
            idempotency_key_required: true,
            title: Some("T".into()),
            output_schema: Some(json!({"type": "object"})),
            hints: Hints {
                read_only: true,
                ..Hints::NONE
            },
            ..bare()
        };
        let written = serde_json::to_value(&full).unwrap();
        assert_eq!(
            serde_json::from_value::<ToolDescriptor>(written.clone()).unwrap(),
            full
        );
        let with = |key: &str| {
            let mut changed = written.clone();
            changed[key] = json!("x");
            changed
        };
        assert!(serde_json::from_value::<ToolDescriptor>(with("id")).is_err());
        assert!(serde_json::from_value::<ToolDescriptor>(with("action_id")).is_err());
        for field in [
            "name",
            "description",
            "parameters_schema",
            "approval_required",
            "selection_token_required",
        ] {
            let mut changed = written.clone();
            changed.as_object_mut().unwrap().remove(field);
            assert!(
                serde_json::from_value::<ToolDescriptor>(changed).is_err(),
                "{field}"
            );
        }
    }
}
