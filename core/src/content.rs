//! Results that are more than JSON: texts for people, pictures, sounds and documents, in the blocks of the Model Context
//! Protocol.
//!
//! A handler that returns [`Content`] is shown as it is by MCP, and as JSON of the same form by other doors.
//! Format: the content blocks of the protocol's revision 2025-11-25.

use data_encoding::BASE64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The mark in a result's schema by which [`is_content`] knows it.
const MARK: &str = "x-actum-content";

/// A result of blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-actum-content" = true))]
pub struct Content {
    /// The blocks, in order.
    pub content: Vec<Block>,
}

/// One block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// A text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// Its bytes, in Base64.
        data: String,
        /// Its media type, such as `image/png`.
        #[serde(rename = "mimeType")]
        mime_type: String,
    },
    /// A sound.
    Audio {
        /// Its bytes, in Base64.
        data: String,
        /// Its media type, such as `audio/wav`.
        #[serde(rename = "mimeType")]
        mime_type: String,
    },
    /// A document, as it is.
    Resource {
        /// The document.
        resource: Document,
    },
}

/// A document with an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Document {
    /// One of text.
    Text {
        /// Its address.
        uri: String,
        /// Its media type, such as `text/plain`.
        #[serde(rename = "mimeType")]
        mime_type: String,
        /// The text.
        text: String,
    },
    /// Any other one.
    Bytes {
        /// Its address.
        uri: String,
        /// Its media type, such as `application/pdf`.
        #[serde(rename = "mimeType")]
        mime_type: String,
        /// Its bytes, in Base64.
        blob: String,
    },
}

impl Content {
    /// One text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().and(Block::text(text))
    }

    /// With one block more.
    #[must_use]
    pub fn and(mut self, block: Block) -> Self {
        self.content.push(block);
        self
    }
}

impl Block {
    /// A text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A picture of this media type.
    #[must_use]
    pub fn image(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::Image {
            data: BASE64.encode(bytes),
            mime_type: mime_type.into(),
        }
    }

    /// A sound of this media type.
    #[must_use]
    pub fn audio(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::Audio {
            data: BASE64.encode(bytes),
            mime_type: mime_type.into(),
        }
    }

    /// A document of text.
    #[must_use]
    pub fn document(
        uri: impl Into<String>,
        mime_type: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        let resource = Document::Text {
            uri: uri.into(),
            mime_type: mime_type.into(),
            text: text.into(),
        };
        Self::Resource { resource }
    }
}

/// Whether results of this schema are [`Content`].
#[must_use]
pub fn is_content(output_schema: &Value) -> bool {
    output_schema.get(MARK) == Some(&Value::Bool(true))
}
