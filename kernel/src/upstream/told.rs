//! What an upstream answers a call with, as the result of an action.

use actum::content::{Block, Content, Document};
use actum::schema::CompiledSchema;
use actum::{ActionError, Confidential};
use rmcp::model::{
    CallToolResult, CancelledNotificationParam, ContentBlock, ErrorCode, RequestId,
    ResourceContents, ServerResult,
};
use rmcp::service::ServiceError;

use crate::printable;

/// The most of an upstream's words that is logged, in characters.
const MAX_WORDS: usize = 1_000;
/// The media type of a document whose upstream names none.
const UNKNOWN: &str = "application/octet-stream";

/// The result of an action: a value of this schema, or blocks where there is none.
///
/// # Errors
/// That it failed, or that nobody knows what it did.
pub(super) fn result(
    answer: Result<ServerResult, ServiceError>,
    schema: Option<&CompiledSchema>,
) -> Result<Confidential, ActionError> {
    let unknown = |why: String| Err(ActionError::outcome_unknown(why));
    match answer {
        Ok(ServerResult::CallToolResult(result)) => completed(result, schema),
        Ok(_) => unknown("it wants more than the arguments, which nobody gives it".to_owned()),
        Err(ServiceError::McpError(error)) => {
            let words = printable::line(&error.message, MAX_WORDS);
            let words = format!("it answered with error {}: {words}", error.code.0);
            match error.code {
                ErrorCode::INVALID_PARAMS
                | ErrorCode::INVALID_REQUEST
                | ErrorCode::METHOD_NOT_FOUND
                | ErrorCode::PARSE_ERROR => Err(ActionError::failed(words)),
                _ => unknown(words),
            }
        }
        Err(error) => unknown(format!("no answer came: {error}")),
    }
}

fn completed(
    result: CallToolResult,
    schema: Option<&CompiledSchema>,
) -> Result<Confidential, ActionError> {
    if result.is_error == Some(true) {
        let words = result.content.iter().filter_map(ContentBlock::as_text);
        let words: Vec<&str> = words.map(|text| text.text.as_str()).collect();
        let words = printable::line(&words.join(" "), MAX_WORDS);
        return Err(ActionError::failed(format!("it says: {words}")));
    }
    let value = match schema {
        None => Confidential::of(&Content {
            content: result.content.into_iter().map(block).collect(),
        }),
        Some(schema) => {
            let value = result.structured_content.unwrap_or_default();
            if schema.check(&value).is_err() {
                let told = "its result does not fit the schema that it gave";
                return Err(ActionError::outcome_unknown(told));
            }
            Confidential::of(&value)
        }
    };
    value.map_err(|error| ActionError::outcome_unknown(error.to_string()))
}

fn block(block: ContentBlock) -> Block {
    match block {
        ContentBlock::Text(text) => Block::text(text.text),
        ContentBlock::Image(image) => Block::Image {
            data: image.data,
            mime_type: image.mime_type,
        },
        ContentBlock::Audio(audio) => Block::Audio {
            data: audio.data,
            mime_type: audio.mime_type,
        },
        ContentBlock::Resource(resource) => Block::Resource {
            resource: document(resource.resource),
        },
        // What it leads to is behind the upstream, where no worker goes.
        ContentBlock::ResourceLink(link) => Block::text(format!("{}: {}", link.name, link.uri)),
        _ => Block::text("[a block of a kind that this kernel does not know]"),
    }
}

fn document(contents: ResourceContents) -> Document {
    let named =
        |mime_type: Option<String>, other: &str| mime_type.unwrap_or_else(|| other.to_owned());
    match contents {
        ResourceContents::TextResourceContents {
            uri,
            mime_type,
            text,
            ..
        } => Document::Text {
            uri,
            mime_type: named(mime_type, "text/plain"),
            text,
        },
        ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob,
            ..
        } => Document::Bytes {
            uri,
            mime_type: named(mime_type, UNKNOWN),
            blob,
        },
        _ => Document::Text {
            uri: String::new(),
            mime_type: "text/plain".to_owned(),
            text: "[a document of a kind that this kernel does not know]".to_owned(),
        },
    }
}

/// That nobody waits for an answer any more.
pub(super) fn cancelled(request: RequestId) -> CancelledNotificationParam {
    CancelledNotificationParam::new(Some(request), None)
}
