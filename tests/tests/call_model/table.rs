//! The kernel's table, and the same with one step more or less.

use actum_kernel::calls::{STEPS, State, Step};
use actum_kernel::ledger::Kind;

/// A table of steps.
#[derive(Debug, Clone)]
pub struct Table {
    steps: Vec<Step>,
    told: String,
}

impl Table {
    /// The kernel's own.
    pub fn real() -> Self {
        Self {
            steps: STEPS.to_vec(),
            told: "the kernel's table".to_owned(),
        }
    }

    /// With a step that is not there.
    pub fn with(mut self, from: State, by: Kind, to: State) -> Self {
        let from = Some(from);
        assert_eq!(self.after(from, by), None, "that is in the table");
        self.told = format!("a step {from:?} -> {to:?} by {by:?}");
        self.steps.push(Step { from, by, to });
        self
    }

    /// Without a step that is there.
    pub fn without(mut self, from: State, by: Kind) -> Self {
        let from = Some(from);
        assert!(self.after(from, by).is_some(), "that is not in the table");
        self.told = format!("no step from {from:?} by {by:?}");
        self.steps.retain(|step| step.from != from || step.by != by);
        self
    }

    /// Where a record takes a call, as `calls::after` says it of the kernel's table.
    pub fn after(&self, from: Option<State>, by: Kind) -> Option<State> {
        let step = self.steps.iter().find(|s| s.from == from && s.by == by);
        step.map(|step| step.to)
    }

    /// Whether a record takes a call anywhere from there.
    pub fn has(&self, from: State, by: Kind) -> bool {
        self.after(Some(from), by).is_some()
    }

    /// What is changed in it.
    pub fn told(&self) -> String {
        self.told.clone()
    }
}
