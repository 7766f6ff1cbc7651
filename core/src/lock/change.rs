//! What changed since a person accepted the surface, and what that does to what a model can do.

use std::fmt;

use serde::Serialize;

use crate::id::ActionId;

/// What a change does to what a model can do.
///
/// The order is that of how much a reviewer must look: of several changes the greatest speaks for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// It can do the same.
    Keeps,
    /// It can do less, and nothing new.
    Narrows,
    /// It can do something new, or it is not proved that it cannot.
    Widens,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keeps => "keeps",
            Self::Narrows => "narrows",
            Self::Widens => "widens",
        })
    }
}

/// One change of one action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The action.
    pub action: ActionId,
    /// The field of its entry in the lock; empty for the action as a whole.
    pub field: &'static str,
    /// What it does to what a model can do.
    pub label: Label,
    /// What changed.
    pub words: String,
}

/// `` `action`: field: what changed: label ``, one line.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: ", self.action)?;
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        write!(f, "{}: {}", self.words, self.label)
    }
}

/// How many changes there are, and how many of each label: `3 changes: 1 widens, 1 narrows, 1 keeps`.
#[must_use]
pub fn tally(changes: &[Change]) -> String {
    let labels: Vec<Label> = changes.iter().map(|change| change.label).collect();
    tally_of(&labels)
}

/// [`tally`] of labels alone.
#[must_use]
pub fn tally_of(labels: &[Label]) -> String {
    let of = |wanted: Label| labels.iter().filter(|label| **label == wanted).count();
    let parts: Vec<String> = [Label::Widens, Label::Narrows, Label::Keeps]
        .into_iter()
        .filter(|label| of(*label) > 0)
        .map(|label| format!("{} {label}", of(label)))
        .collect();
    match labels.len() {
        0 => "no change".to_owned(),
        1 => format!("1 change: {}", parts.join(", ")),
        several => format!("{several} changes: {}", parts.join(", ")),
    }
}
