//! What was counted, as one table.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;

/// Counts by name.
#[derive(Debug, Default)]
pub struct Counts(Mutex<BTreeMap<String, usize>>);

impl Counts {
    pub fn one(&self, what: impl Into<String>) {
        self.many(what, 1);
    }

    pub fn many(&self, what: impl Into<String>, times: usize) {
        *self.0.lock().unwrap().entry(what.into()).or_default() += times;
    }

    pub fn of(&self, what: &str) -> usize {
        self.0
            .lock()
            .unwrap()
            .get(what)
            .copied()
            .unwrap_or_default()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, times) in &*self.0.lock().unwrap() {
            writeln!(f, "  {times:>7}  {what}")?;
        }
        Ok(())
    }
}
