//! JSON objects in a column, and words that stand for one of a few things.

use schemars::JsonSchema;
use serde::de::IntoDeserializer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::BoardError;

/// Details that only whoever reads them understands: a JSON object.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Payload(pub Map<String, Value>);

impl Payload {
    pub(super) fn to_text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

impl TryFrom<String> for Payload {
    type Error = serde_json::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        serde_json::from_str(&text)
    }
}

/// The thing that a word stands for. The error lists the words there are.
pub(super) fn word<'w, T: Deserialize<'w>>(
    what: &'static str,
    word: &'w str,
) -> Result<T, BoardError> {
    T::deserialize(word.into_deserializer())
        .map_err(|source| BoardError::NoSuchWord { what, source })
}
