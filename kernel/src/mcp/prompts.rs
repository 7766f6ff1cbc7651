//! Prompts: actions that people choose by name. Getting one is a call of its action, by the one path of all calls.

use actum::content::{Content, is_content};
use actum::gate::Standing;
use actum::project::ViewedTool;
use actum::requirement::texts_of;
use actum::{ActionCatalog, CatalogView};
use rmcp::model::{
    CompletionInfo, ContentBlock, ErrorData, Prompt, PromptArgument, PromptMessage, Role,
};
use serde_json::Value;

/// What every name is answered with that is no prompt.
pub(super) fn unknown(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("Unknown prompt: {name}"), None)
}

/// The prompts of a view.
pub(super) fn all<'v>(
    view: &'v CatalogView<'_>,
    catalog: &'v ActionCatalog,
) -> impl Iterator<Item = &'v ViewedTool<'v>> {
    // One that waits for a person could not be answered.
    let tools = view
        .tools()
        .filter(|tool| tool.standing() == Standing::Allowed);
    tools.filter(|tool| catalog.is_prompt(tool.id().as_str()))
}

/// A prompt, as it is listed.
pub(super) fn listed(tool: &ViewedTool<'_>) -> Prompt {
    let descriptor = tool.descriptor();
    let schema = &descriptor.parameters_schema;
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let kind = |argument: &Value| argument.get("type").cloned().unwrap_or_default();
    // What a person cannot fill in may be left out.
    let is_told = |(_, argument): &(&String, &Value)| match kind(argument) {
        Value::String(kind) => kind == "string",
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "string"),
        _ => true,
    };
    let argument = |(name, argument): (&String, &Value)| {
        let mut told = PromptArgument::new(name);
        let description = argument.get("description").and_then(Value::as_str);
        told.description = description.map(str::to_owned);
        told.required = Some(required.is_some_and(|all| all.iter().any(|one| one == name)));
        told
    };
    let arguments: Vec<_> = properties
        .into_iter()
        .flatten()
        .filter(is_told)
        .map(argument)
        .collect();
    let arguments = (!arguments.is_empty()).then_some(arguments);
    let mut prompt = Prompt::new(&*descriptor.name, Some(&*descriptor.description), arguments);
    prompt.title.clone_from(&descriptor.title);
    prompt
}

/// A result, as messages of the person who chose the prompt.
pub(super) fn messages(value: Value, output: Option<&Value>) -> Vec<PromptMessage> {
    let said = |block| PromptMessage::new(Role::User, block);
    if output.is_some_and(is_content)
        && let Ok(Content { content }) = serde_json::from_value(value.clone())
    {
        let blocks = content.into_iter().map(serde_json::to_value);
        let blocks = blocks.filter_map(|block| serde_json::from_value(block.ok()?).ok());
        return blocks.map(said).collect();
    }
    vec![said(ContentBlock::text(match value {
        Value::String(words) => words,
        value => value.to_string(),
    }))]
}

/// What an argument may go on with: the values that its schema names, none where it names none.
pub(super) fn completions(tool: &ViewedTool<'_>, argument: &str, begun: &str) -> CompletionInfo {
    let values = texts_of(&tool.descriptor().parameters_schema, argument);
    let mut values: Vec<String> = values
        .into_iter()
        .flatten()
        .filter(|value| value.starts_with(begun))
        .map(str::to_owned)
        .collect();
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut info = CompletionInfo::default();
    info.has_more = Some(values.len() < total);
    info.total = u32::try_from(total).ok();
    info.values = values;
    info
}
