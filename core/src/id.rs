//! Names: action ids, the tool names that models see, and the ids of records.
//!
//! An action id is one or more lower-case segments joined by dots, with at most one `:qualifier`:
//! `openspine.status.read`, `email.read_thread:selected_no_attachments`. Ids match exactly; there
//! are no wildcards and no case folding anywhere.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The longest tool name that every provider takes.
pub const MAX_TOOL_NAME: usize = 64;

/// The id of an action, checked.
///
/// Grammar: `segment ("." segment)* (":" segment)?`, where a segment is `[a-z][a-z0-9_]*`. The tool
/// name made from it ([`ToolName::of`]) has at most [`MAX_TOOL_NAME`] characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionId(Arc<str>);

/// What is wrong with a would-be action id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdFault {
    /// There is nothing there.
    #[error("an action id cannot be empty")]
    Empty,
    /// A character or a place that the grammar does not have.
    #[error(
        "an action id is dotted lower-case segments with an optional `:qualifier`, such as `email.read_thread:selected`"
    )]
    Malformed,
    /// The tool name made from the id would not fit.
    #[error("an action id makes a tool name of at most 64 characters (a `:` counts as two)")]
    TooLong,
}

/// Checks an action id at compile time; [`ActionId::parse`] is the same check at run time.
///
/// # Errors
/// The first fault, as [`IdFault`].
pub const fn check_action_id(id: &str) -> Result<(), IdFault> {
    let mut rest = id.as_bytes();
    if rest.is_empty() {
        return Err(IdFault::Empty);
    }
    let (mut at_start, mut qualified, mut name_len) = (true, false, 0usize);
    while let [byte, tail @ ..] = rest {
        match *byte {
            b'a'..=b'z' => at_start = false,
            b'0'..=b'9' | b'_' if !at_start => {}
            b'.' if !at_start && !qualified => at_start = true,
            b':' if !at_start && !qualified => {
                at_start = true;
                qualified = true;
                name_len += 1;
            }
            _ => return Err(IdFault::Malformed),
        }
        name_len += 1;
        rest = tail;
    }
    if at_start {
        return Err(IdFault::Malformed);
    }
    if name_len > MAX_TOOL_NAME {
        return Err(IdFault::TooLong);
    }
    Ok(())
}

impl ActionId {
    /// Checks and takes an id.
    ///
    /// # Errors
    /// The first fault, as [`IdFault`].
    pub fn parse(id: &str) -> Result<Self, IdFault> {
        check_action_id(id)?;
        Ok(Self(id.into()))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for ActionId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for ActionId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ActionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for ActionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

impl Serialize for ActionId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ActionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .map_err(|fault| serde::de::Error::custom(format_args!("`{text}`: {fault}")))
    }
}

/// The model-facing alias of an action id: `^[a-zA-Z0-9_-]{1,64}$`.
///
/// `.` becomes `-` and `:` becomes `--`. Ids have no `-` and no empty segment, so the way back is
/// exact and two ids never share a name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName(String);

impl ToolName {
    /// The name of an action.
    #[must_use]
    pub fn of(id: &ActionId) -> Self {
        Self(id.as_str().replace(':', "--").replace('.', "-"))
    }

    /// The id that a tool name stands for; `None` for text that is no tool name of any id.
    #[must_use]
    pub fn to_id(name: &str) -> Option<ActionId> {
        if name.contains(['.', ':']) {
            return None;
        }
        ActionId::parse(&name.replace("--", ":").replace('-', ".")).ok()
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_grammar_takes_ids_and_nothing_else() {
        for good in ["a", "get_task_context", "openspine.status.read", "a.b:c_1"] {
            assert!(ActionId::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "", ".", "a.", ".a", "a..b", "A.b", "a.B", "a b", "a.1b", "a:b:c", "a:b.c", "a:", ":a",
            "a-b", "a.b ", "é", "a.*", "_a",
        ] {
            assert!(ActionId::parse(bad).is_err(), "{bad}");
        }
        assert!(ActionId::parse(&"a".repeat(64)).is_ok());
        assert_eq!(ActionId::parse(&"a".repeat(65)), Err(IdFault::TooLong));
    }

    proptest! {
        #[test]
        fn tool_names_lead_back_to_their_id(id in "[a-z][a-z0-9_]{0,8}(\\.[a-z][a-z0-9_]{0,8}){0,3}(:[a-z][a-z0-9_]{0,8})?") {
            let id = ActionId::parse(&id).unwrap();
            let name = ToolName::of(&id);
            prop_assert!(name.as_str().len() <= MAX_TOOL_NAME);
            prop_assert!(name.as_str().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
            prop_assert_eq!(ToolName::to_id(name.as_str()), Some(id));
        }

        #[test]
        fn only_the_exact_name_leads_back(name in "[a-z:._-]{1,12}") {
            if let Some(id) = ToolName::to_id(&name) {
                let back = ToolName::of(&id);
                prop_assert_eq!(back.as_str(), name.as_str());
            }
        }
    }
}
