//! Resources: what became of a task's calls, and what actions of its view read at addresses.
//!
//! Reading at an address of an action is a call of it, by the one path of all calls.

use std::sync::Arc;

use actum::content::{Block, Content, Document, is_content};
use actum::gate::Standing;
use actum::grant::VerifiedGrant;
use actum::project::ViewedTool;
use actum::resource::UriTemplate;
use actum::{ActionCatalog, CatalogView};
use rmcp::model::{ErrorData, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Map, Value};
use ulid::Ulid;

use crate::Kernel;
use crate::auth::LiveTask;
use crate::store::StoreError;
use crate::worker::told;

/// What the address of a call begins with.
const CALLS: &str = "actum://calls/";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

/// The address of a call.
pub(super) fn of_call(id: Ulid) -> String {
    format!("{CALLS}{id}")
}

/// What every address is answered with at which there is nothing to read.
pub(super) fn unknown() -> ErrorData {
    ErrorData::resource_not_found("Resource not found", None)
}

/// The addresses that a view has, those of many at once included.
pub(super) fn addresses<'v>(
    view: &'v CatalogView<'_>,
    catalog: &'v ActionCatalog,
) -> impl Iterator<Item = (&'v ViewedTool<'v>, &'v UriTemplate)> {
    // What waits for a person cannot be read.
    let tools = view
        .tools()
        .filter(|tool| tool.standing() == Standing::Allowed);
    tools.filter_map(|tool| Some((tool, catalog.resource_of(tool.id().as_str())?)))
}

/// The addresses of single documents.
pub(super) fn listed(view: &CatalogView<'_>, catalog: &ActionCatalog) -> Vec<Resource> {
    let ones = addresses(view, catalog).filter(|(_, address)| address.is_one());
    let resource = |(tool, address): (&ViewedTool<'_>, &UriTemplate)| {
        let descriptor = tool.descriptor();
        let mut resource = Resource::new(address.as_str(), &*descriptor.name);
        resource.title.clone_from(&descriptor.title);
        resource.description = Some(descriptor.description.clone());
        resource
    };
    ones.map(resource).collect()
}

/// The forms of addresses.
pub(super) fn templates(view: &CatalogView<'_>, catalog: &ActionCatalog) -> Vec<ResourceTemplate> {
    let many = addresses(view, catalog).filter(|(_, address)| !address.is_one());
    let template = |(tool, address): (&ViewedTool<'_>, &UriTemplate)| {
        let descriptor = tool.descriptor();
        let template = ResourceTemplate::new(address.as_str(), &*descriptor.name);
        let mut template = template.with_description(&*descriptor.description);
        template.title.clone_from(&descriptor.title);
        template
    };
    let calls = ResourceTemplate::new(format!("{CALLS}{{request_id}}"), "call")
        .with_title("A call of this task")
        .with_description("What became of a call: its state and, once it has ended, its result.")
        .with_mime_type(JSON);
    many.map(template).chain([calls]).collect()
}

/// The call that reading at an address is, by the name of its tool; `None` where the view has no such address.
pub(super) fn call_at(
    uri: &str,
    grant: &VerifiedGrant,
    catalog: &ActionCatalog,
) -> Option<(String, Map<String, Value>)> {
    let view = actum::project(grant, catalog);
    addresses(&view, catalog).find_map(|(tool, address)| {
        let arguments = address.arguments(uri)?;
        Some((tool.descriptor().name.clone(), arguments))
    })
}

/// What became of the call at an address; `None` where there is none of this task.
///
/// # Errors
/// That the store could not say.
pub(super) async fn call_of(
    kernel: &Arc<Kernel>,
    task: &LiveTask,
    uri: &str,
) -> Result<Option<Value>, ErrorData> {
    let id = uri.strip_prefix(CALLS);
    let Some(id) = id.and_then(|id| Ulid::from_string(id).ok()) else {
        return Ok(None);
    };
    let call = kernel.call_of(task, id).await;
    call.map(|call| call.map(told)).map_err(unreadable)
}

/// What a client is told where the store does not answer.
pub(super) fn unreadable(error: StoreError) -> ErrorData {
    tracing::error!(%error, "the store failed");
    ErrorData::internal_error("the kernel cannot read now; try again later", None)
}

/// A call, as a document.
pub(super) fn call_told(told: &Value, uri: &str) -> ResourceContents {
    ResourceContents::text(told.to_string(), uri).with_mime_type(JSON)
}

/// A result, as documents at the address that it was read at.
pub(super) fn contents(value: Value, output: Option<&Value>, uri: &str) -> Vec<ResourceContents> {
    if output.is_some_and(is_content)
        && let Ok(Content { content }) = serde_json::from_value(value.clone())
    {
        return content
            .into_iter()
            .map(|block| document(block, uri))
            .collect();
    }
    let text = |text: String, kind: &str| ResourceContents::text(text, uri).with_mime_type(kind);
    vec![match value {
        Value::String(words) => text(words, TEXT),
        value => text(value.to_string(), JSON),
    }]
}

fn document(block: Block, uri: &str) -> ResourceContents {
    let of = |document: Document| match document {
        Document::Text {
            uri,
            mime_type,
            text,
        } => ResourceContents::text(text, uri).with_mime_type(mime_type),
        Document::Bytes {
            uri,
            mime_type,
            blob,
        } => ResourceContents::blob(blob, uri).with_mime_type(mime_type),
    };
    match block {
        Block::Text { text } => ResourceContents::text(text, uri).with_mime_type(TEXT),
        Block::Image { data, mime_type } | Block::Audio { data, mime_type } => {
            ResourceContents::blob(data, uri).with_mime_type(mime_type)
        }
        Block::Resource { resource } => of(resource),
    }
}
