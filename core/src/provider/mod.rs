//! Tools in the shape that each provider's API takes them.
//!
//! A [`ToolDescriptor`] is written once; five APIs want it in five shapes, and each of them refuses
//! a whole request for one tool that breaks one of its rules. So every shape stands beside its
//! provider's published rules, each with its source, and [`check`] is those rules as a program.
//!
//! INVARIANT: [`render`] gives out nothing that [`check`] finds fault with; it runs the checker
//! last. A tool that cannot be said within the rules is an [`Inexpressible`], in words, and no
//! other tool is touched by it.
//!
//! INVARIANT: a shape may allow more than the descriptor's schema, never less. The kernel checks
//! every call against the exact schema, so that a rule which a provider has no word for is told in
//! a description and still holds; but a call that the kernel would take must stay sayable.
//!
//! ```
//! use actum::provider::{Provider, render};
//! use actum::{Hints, ToolDescriptor};
//! use serde_json::json;
//!
//! let tool = ToolDescriptor {
//!     name: "mail-send".into(),
//!     description: "Send a message.".into(),
//!     parameters_schema: json!({
//!         "type": "object",
//!         "properties": {"to": {"type": "string"}},
//!         "required": ["to"],
//!         "additionalProperties": false,
//!     }),
//!     approval_required: true,
//!     selection_token_required: false,
//!     idempotency_key_required: false,
//!     title: None,
//!     output_schema: None,
//!     hints: Hints::NONE,
//! };
//! let shape = render(Provider::OpenAiResponses, &tool, true)?;
//! assert_eq!(shape["strict"], true);
//! assert_eq!(shape["description"], "Send a message. (requires owner approval)");
//! # Ok::<(), actum::provider::Inexpressible>(())
//! ```

mod anthropic;
mod any_of;
mod description;
mod gemini;
mod mcp;
mod openai;
mod place;
mod rule;
mod union;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::descriptor::ToolDescriptor;

pub use mcp::structured;
pub use rule::{Rule, RuleFault};

use place::Bound;
use rule::Faults;

/// An API that takes a list of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    /// OpenAI, Chat Completions.
    OpenAiChat,
    /// OpenAI, Responses.
    OpenAiResponses,
    /// Anthropic, Messages.
    Anthropic,
    /// Google, Gemini API and Vertex AI, function declarations.
    Gemini,
    /// Model Context Protocol, `tools/list`.
    Mcp,
}

/// A name that no provider has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no provider `{0}`; it is one of openai, openai-responses, anthropic, gemini and mcp"
)]
pub struct UnknownProvider(pub String);

impl Provider {
    /// Every provider, in the order of their names' listing.
    pub const ALL: [Self; 5] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::Mcp,
    ];

    /// The name in URLs and on command lines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Mcp => "mcp",
        }
    }

    /// The published rules that [`check`] and [`check_list`] hold a tool against.
    #[must_use]
    pub const fn rules(self) -> &'static [&'static Rule] {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => openai::RULES,
            Self::Anthropic => anthropic::RULES,
            Self::Gemini => gemini::RULES,
            Self::Mcp => mcp::RULES,
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Provider {
    type Err = UnknownProvider;

    fn from_str(name: &str) -> Result<Self, UnknownProvider> {
        Self::ALL
            .into_iter()
            .find(|provider| provider.as_str() == name)
            .ok_or_else(|| UnknownProvider(name.to_owned()))
    }
}

/// A tool that a provider's rules leave no way to say: which, where, why, and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inexpressible {
    /// The provider whose rules are broken.
    pub provider: Provider,
    /// The tool's name.
    pub tool: String,
    /// Every fault found, never empty. Pointers lead into the tool as it was about to be sent; the
    /// faults of [bounds](Rule) of Actum's own lead into the descriptor's schema.
    pub faults: Vec<RuleFault>,
}

impl fmt::Display for Inexpressible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the tool `{}` cannot be told to {}:",
            self.tool, self.provider
        )?;
        for fault in &self.faults {
            write!(f, "\n  {fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Inexpressible {}

/// One tool as the provider's API takes it in its list of tools.
///
/// `approval_required` says whether a call of it waits for the owner in this view; it does so
/// anyway where the descriptor says so. The description then ends with
/// ` (requires owner approval)`, as no provider has a field for it.
///
/// # Errors
/// [`Inexpressible`] when no shape of the tool keeps the provider's rules.
pub fn render(
    provider: Provider,
    descriptor: &ToolDescriptor,
    approval_required: bool,
) -> Result<Value, Inexpressible> {
    let refused = |faults| Inexpressible {
        provider,
        tool: descriptor.name.clone(),
        faults,
    };
    let schemas = [
        Some(("/parameters_schema", &descriptor.parameters_schema)),
        descriptor
            .output_schema
            .as_ref()
            .map(|schema| ("/output_schema", schema)),
    ];
    let mut beyond = Faults::default();
    for (at, schema) in schemas.into_iter().flatten() {
        if let Err(problem) = Bound::check(schema) {
            beyond.add(&place::BOUNDED, at, problem);
        }
    }
    if !beyond.is_empty() {
        return Err(refused(beyond.into()));
    }

    let approval_required = approval_required || descriptor.approval_required;
    let tool = match provider {
        Provider::OpenAiChat => openai::chat(descriptor, approval_required),
        Provider::OpenAiResponses => openai::responses(descriptor, approval_required),
        Provider::Anthropic => anthropic::tool(descriptor, approval_required),
        Provider::Gemini => gemini::declaration(descriptor, approval_required).map_err(refused)?,
        Provider::Mcp => mcp::tool(descriptor, approval_required),
    };
    let faults = check(provider, &tool);
    if faults.is_empty() {
        Ok(tool)
    } else {
        Err(refused(faults))
    }
}

/// Holds one rendered tool against the provider's published rules; the faults found, at most
/// [`RuleFault::MOST`] of them.
#[must_use]
pub fn check(provider: Provider, tool: &Value) -> Vec<RuleFault> {
    let mut faults = Faults::default();
    if let Err(problem) = Bound::check(tool) {
        faults.add(&place::BOUNDED, "", problem);
        return faults.into();
    }
    match provider {
        Provider::OpenAiChat => openai::check_chat(tool, &mut faults),
        Provider::OpenAiResponses => openai::check_responses(tool, &mut faults),
        Provider::Anthropic => anthropic::check(tool, &mut faults),
        Provider::Gemini => gemini::check(tool, &mut faults),
        Provider::Mcp => mcp::check(tool, &mut faults),
    }
    faults.into()
}

/// Holds a list of rendered tools, as a whole, against the provider's rules: names are unique, and
/// there are not too many. It does not look into the tools; [`check`] does.
#[must_use]
pub fn check_list(provider: Provider, tools: &[Value]) -> Vec<RuleFault> {
    let (name_at, unique, most) = match provider {
        Provider::OpenAiChat => (
            "/function/name",
            &openai::UNIQUE_NAMES,
            Some(&openai::MOST_TOOLS),
        ),
        Provider::OpenAiResponses => ("/name", &openai::UNIQUE_NAMES, Some(&openai::MOST_TOOLS)),
        Provider::Anthropic => ("/name", &anthropic::UNIQUE_NAMES, None),
        Provider::Gemini => ("/name", &gemini::UNIQUE_NAMES, Some(&gemini::MOST_TOOLS)),
        Provider::Mcp => ("/name", &mcp::UNIQUE_NAMES, None),
    };
    let mut faults = Faults::default();
    let mut first_of = BTreeMap::new();
    for (index, tool) in tools.iter().enumerate() {
        let Some(name) = tool.pointer(name_at).and_then(Value::as_str) else {
            continue;
        };
        if let Some(first) = first_of.insert(name, index) {
            let problem = format!("`{name}` is also the name of tool {first}; rename one of them");
            faults.add(unique, format!("/{index}{name_at}"), problem);
        }
    }
    if let Some((rule, limit)) = most
        && tools.len() > *limit
    {
        let problem = format!(
            "{} tools, at most {limit} are taken; narrow the grant",
            tools.len()
        );
        faults.add(rule, "", problem);
    }
    faults.into()
}

#[cfg(test)]
mod tests;
