//! What a model is told of an action.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::digest::{Digest, canonical_json};
use crate::provider::{Inexpressible, Provider, render};

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

/// What an action says of its effects; the vocabulary is MCP's tool annotations. Hints inform
/// people and models, they decide nothing.
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

/// A descriptor as the bytes that workers get, made once.
#[derive(Clone)]
pub(crate) struct Rendered {
    pub(crate) descriptor: ToolDescriptor,
    as_allowed: Presentation,
    as_approval_required: Presentation,
}

/// The bytes of one presentation, and their digest.
#[derive(Debug, Clone)]
pub(crate) struct Presentation {
    pub(crate) json: Arc<str>,
    pub(crate) digest: Digest,
    approval_required: bool,
    /// The same tool in each provider's shape, made when it is first asked for.
    shapes: [OnceLock<Result<Arc<str>, Arc<Inexpressible>>>; Provider::ALL.len()],
}

impl Rendered {
    /// Renders both presentations; `None` for a descriptor that has no canonical JSON, which is
    /// then treated as missing.
    pub(crate) fn new(descriptor: ToolDescriptor) -> Option<Self> {
        let as_approval_required = Presentation::of(&descriptor, true)?;
        let as_allowed = if descriptor.approval_required {
            as_approval_required.clone()
        } else {
            Presentation::of(&descriptor, false)?
        };
        Some(Self {
            descriptor,
            as_allowed,
            as_approval_required,
        })
    }

    /// The tool in a provider's shape, as the descriptor has it.
    pub(crate) fn shape(&self, provider: Provider) -> Result<&str, &Inexpressible> {
        let presentation = self.presentation(self.descriptor.approval_required);
        presentation.shape(&self.descriptor, provider)
    }

    pub(crate) fn presentation(&self, approval_required: bool) -> &Presentation {
        if approval_required {
            &self.as_approval_required
        } else {
            &self.as_allowed
        }
    }
}

impl Presentation {
    fn of(descriptor: &ToolDescriptor, approval_required: bool) -> Option<Self> {
        let mut tool = json!({
            "name": descriptor.name,
            "description": descriptor.description,
            "parameters": descriptor.parameters_schema,
            "approval_required": approval_required,
            "selection_token_required": descriptor.selection_token_required,
        });
        let extras = tool.as_object_mut()?;
        if let Some(title) = &descriptor.title {
            extras.insert("title".to_owned(), json!(title));
        }
        if let Some(schema) = &descriptor.output_schema {
            extras.insert("output_schema".to_owned(), schema.clone());
        }
        if !descriptor.hints.is_empty() {
            extras.insert("hints".to_owned(), json!(descriptor.hints));
        }
        let bytes = canonical_json(&tool).ok()?;
        let digest = Digest::of_bytes(&bytes);
        Some(Self {
            json: String::from_utf8(bytes).ok()?.into(),
            digest,
            approval_required,
            shapes: Default::default(),
        })
    }
}

impl Presentation {
    /// The tool in a provider's own shape, as JSON.
    pub(crate) fn shape(
        &self,
        descriptor: &ToolDescriptor,
        provider: Provider,
    ) -> Result<&str, &Inexpressible> {
        let make = || match render(provider, descriptor, self.approval_required) {
            Ok(tool) => Ok(tool.to_string().into()),
            Err(problem) => Err(Arc::new(problem)),
        };
        let [chat, responses, anthropic, gemini, mcp] = &self.shapes;
        let shape = match provider {
            Provider::OpenAiChat => chat,
            Provider::OpenAiResponses => responses,
            Provider::Anthropic => anthropic,
            Provider::Gemini => gemini,
            Provider::Mcp => mcp,
        };
        shape.get_or_init(make).as_deref().map_err(Arc::as_ref)
    }
}

impl fmt::Debug for Rendered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.descriptor.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare() -> ToolDescriptor {
        ToolDescriptor {
            name: "a-b".into(),
            description: "Does.".into(),
            parameters_schema: json!({"type": "object", "properties": {}}),
            approval_required: false,
            selection_token_required: true,
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

    #[test]
    fn the_mark_of_approval_is_the_only_difference_between_the_two_presentations() {
        let rendered = Rendered::new(bare()).unwrap();
        let (plain, marked) = (rendered.presentation(false), rendered.presentation(true));
        assert_ne!(plain.digest, marked.digest);
        assert_eq!(
            plain
                .json
                .replace("\"approval_required\":false", "\"approval_required\":true"),
            *marked.json
        );
    }
}
