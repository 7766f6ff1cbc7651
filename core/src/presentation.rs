//! Descriptors as the bytes that workers get, made once.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::json;

use crate::descriptor::ToolDescriptor;
use crate::digest::{Digest, canonical_json};
use crate::provider::{Inexpressible, Provider, render};

/// A descriptor in both presentations: as allowed, and as waiting for approval.
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
    /// The same tool in each provider's shape, made when it is first asked for. Boxed: a catalog's
    /// entries lie side by side, and what every projection reads of them should be near.
    shapes: Box<Shapes>,
}

type Shapes = [OnceLock<Result<Arc<str>, Arc<Inexpressible>>>; Provider::ALL.len()];

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
    pub(crate) fn of(descriptor: &ToolDescriptor, approval_required: bool) -> Option<Self> {
        let mut tool = json!({
            "name": descriptor.name,
            "description": descriptor.description,
            "parameters": descriptor.parameters_schema,
            "approval_required": approval_required,
            "selection_token_required": descriptor.selection_token_required,
        });
        let extras = tool.as_object_mut()?;
        if descriptor.idempotency_key_required {
            extras.insert("idempotency_key_required".to_owned(), json!(true));
        }
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
            shapes: Box::default(),
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
        let [chat, responses, anthropic, gemini, mcp] = &*self.shapes;
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
    use crate::descriptor::Hints;

    #[test]
    fn the_mark_of_approval_is_the_only_difference_between_the_two_presentations() {
        let bare = ToolDescriptor {
            name: "a-b".into(),
            description: "Does.".into(),
            parameters_schema: crate::schema::no_arguments(),
            approval_required: false,
            selection_token_required: true,
            idempotency_key_required: false,
            title: None,
            output_schema: None,
            hints: Hints::NONE,
        };
        let rendered = Rendered::new(bare).unwrap();
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
