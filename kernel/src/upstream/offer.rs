//! What an upstream says of a tool, brought into the form that models are told.

use actum::Registry;
use actum::content::{Content, is_content};
use actum::lock::{LockedAction, SurfaceLock};
use actum::schema::{CompiledSchema, SchemaFault, normal_form, result_form, result_of};
use actum::upstream::UpstreamAction;
use rmcp::model::Tool;
use serde_json::Value;

use crate::printable;

/// The longest title and the longest description that models are told, in characters.
const MAX_TITLE: usize = 200;
const MAX_DESCRIPTION: usize = 1024;
/// The longest description of an argument, in bytes.
const MAX_ARGUMENT: usize = 1024;

/// What is offered of one tool. What a person would not see in it is not in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Offer {
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) parameters: Value,
    pub(crate) output: Option<Value>,
}

impl Offer {
    /// What a server offers.
    ///
    /// # Errors
    /// Why no action can be made of it.
    pub(crate) fn of_tool(tool: &Tool) -> Result<Self, String> {
        let annotated = tool.annotations.as_ref();
        let title = tool.title.as_ref();
        let title = title.or_else(|| annotated?.title.as_ref());
        let title = title.map(|title| printable::line(title, MAX_TITLE));
        let told = tool.description.as_deref().unwrap_or_default();
        let description = printable::line(told, MAX_DESCRIPTION);
        let input = cleaned(Value::Object((*tool.input_schema).clone()))?;
        let parameters = normal_form(input).map_err(|fault| fault.to_string())?;
        let output = match &tool.output_schema {
            Some(output) => result_form(cleaned(Value::Object((**output).clone()))?),
            None => result_of::<Content>(),
        };
        Ok(Self {
            title: title.filter(|title| !title.is_empty()),
            description: match description.is_empty() {
                true => printable::line(&tool.name, MAX_TITLE),
                false => description,
            },
            parameters,
            output: output.map_err(|fault| format!("in its result: {fault}"))?,
        })
    }

    /// What was accepted.
    pub(crate) fn of_lock(locked: &LockedAction) -> Self {
        Self {
            title: locked.title.clone(),
            description: locked.description.clone(),
            parameters: locked.parameters.clone(),
            output: locked.output.clone(),
        }
    }
}

/// The schema of a tool's results; `None` where they are blocks, as those of tools that give no schema are.
///
/// # Errors
/// That it does not compile.
pub(crate) fn result_schema(output: Option<&Value>) -> Result<Option<CompiledSchema>, SchemaFault> {
    let output = output.filter(|output| !is_content(output));
    output.map(CompiledSchema::new).transpose()
}

/// The entry that an action has in the surface lock.
///
/// # Errors
/// Why it cannot be an action.
pub(crate) fn entry_of(action: UpstreamAction) -> Result<LockedAction, String> {
    let alone = Registry::new([], []).map_err(|faults| faults.to_string())?;
    let alone = alone.and_upstream([action]).map_err(|faults| {
        let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
        faults.join("\n")
    })?;
    let surface = SurfaceLock::of(&alone.catalog()).map_err(|fault| fault.to_string())?;
    let mut entries = surface.actions.into_iter();
    entries
        .next()
        .ok_or_else(|| "it is no action that agents can call".to_owned())
}

/// A schema in which nothing is hidden: descriptions as a person sees them. Other texts cannot be mended without changing
/// what the schema takes, and are refused.
fn cleaned(schema: Value) -> Result<Value, String> {
    let refuse = |text: &str| {
        let text = printable::visible(text);
        Err(format!(
            "its schema has the text `{text}`, with characters that nobody sees"
        ))
    };
    Ok(match schema {
        Value::Object(fields) => {
            let mut kept = serde_json::Map::new();
            for (key, value) in fields {
                if !printable::is_plain(&key) {
                    return refuse(&key);
                }
                let value = match (key.as_str(), value) {
                    ("description" | "title", Value::String(text)) => {
                        Value::String(printable::block(&text, MAX_ARGUMENT))
                    }
                    (_, value) => cleaned(value)?,
                };
                kept.insert(key, value);
            }
            Value::Object(kept)
        }
        Value::Array(items) => {
            let items = items.into_iter().map(cleaned);
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Value::String(text) if !printable::is_plain(&text) => return refuse(&text),
        other => other,
    })
}
