//! What the board refuses, and why.

use super::approval::Decision;

/// Why the board did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// The database said so.
    #[error("the board's database failed")]
    Database(#[from] sqlx::Error),
    /// The file cannot be made or brought up to date.
    #[error("{path}: {problem}")]
    Unusable {
        /// The file.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// A value has no JSON form.
    #[error("a result cannot be kept")]
    NotJson(#[from] serde_json::Error),
    /// The call's principal is nobody on this board.
    #[error("`{0}` is no actor on this board; add one with this principal")]
    NobodyHere(String),
    /// The actor is at no task.
    #[error("`{0}` has no active task; the control plane checks one out")]
    NoActiveTask(String),
    /// There is no such thing, or not for this actor.
    #[error("there is no {what} `{id}`")]
    Missing {
        /// What kind of thing.
        what: &'static str,
        /// The id that was given.
        id: String,
    },
    /// A word that stands for nothing.
    #[error("no such {what}")]
    NoSuchWord {
        /// What it should be one of.
        what: &'static str,
        /// Which words there are.
        source: serde::de::value::Error,
    },
    /// Somebody else wrote in between.
    #[error("`{key}` has another newest revision than the text was written over; read it again")]
    StaleBase {
        /// The document.
        key: String,
        /// What the text was written over.
        base: Option<String>,
        /// What it would have replaced.
        newest: Option<String>,
    },
    /// A task would wait for itself.
    #[error("`{task}` would wait for itself, by way of `{blocked_by}`")]
    Cycle {
        /// The task.
        task: String,
        /// The dependency that closes the circle.
        blocked_by: String,
    },
    /// A task cannot end before those that it waits for.
    #[error("`{task}` waits for {}", open.join(", "))]
    StillBlocked {
        /// The task.
        task: String,
        /// What it waits for.
        open: Vec<String>,
    },
    /// Task or actor are not free for each other.
    #[error(
        "`{0}` cannot be checked out: it is done, somebody is at it, or the actor is at another task"
    )]
    NotFree(String),
    /// Whoever asked for an approval does not decide it.
    #[error("approval `{0}` was requested by the actor itself; somebody else decides it")]
    OwnRequest(String),
    /// An approval is decided once.
    #[error("approval `{id}` is {decision:?} already")]
    Decided {
        /// The approval.
        id: String,
        /// How it was decided.
        decision: Decision,
    },
    /// A deliverable that nobody could check.
    #[error("{0}")]
    Deliverable(&'static str),
    /// Nothing that an administrator can do.
    #[error("no such administration")]
    Administration(#[source] serde_json::Error),
    /// The task was not begun by a routine.
    #[error("`{0}` belongs to no routine")]
    NoRoutine(String),
}

impl BoardError {
    pub(super) fn missing(what: &'static str, id: &str) -> Self {
        Self::Missing {
            what,
            id: id.to_owned(),
        }
    }
}
