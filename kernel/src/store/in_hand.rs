//! The calls that a kernel runs at this moment.
//!
//! INVARIANT: a call is in hand before it is stored as running, and until its end is stored or cannot be. So a call that is
//! stored as running by a kernel, and that this kernel does not have in hand, is run by nobody.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ulid::Ulid;

/// The calls.
#[derive(Debug, Default)]
pub(super) struct InHand(Mutex<BTreeSet<Ulid>>);

impl InHand {
    /// Takes a call in hand, until what is returned is dropped or kept; `None` where it is in hand already.
    pub(super) fn take(&self, call: Ulid) -> Option<Taken<'_>> {
        let is_new = self.calls().insert(call);
        // Made only where it is new: one that is dropped lets the call go.
        is_new.then(|| self.until_dropped(call))
    }

    /// A call that is let go when what is returned is dropped.
    pub(super) fn until_dropped(&self, call: Ulid) -> Taken<'_> {
        Taken {
            from: self,
            call,
            keep: false,
        }
    }

    /// The calls, as texts.
    pub(super) fn texts(&self) -> Vec<String> {
        self.calls().iter().map(Ulid::to_string).collect()
    }

    /// Whether a call is in hand.
    pub(super) fn has(&self, call: Ulid) -> bool {
        self.calls().contains(&call)
    }

    fn calls(&self) -> MutexGuard<'_, BTreeSet<Ulid>> {
        // A set of ids is whole whenever it can be seen.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call in hand.
#[derive(Debug)]
#[must_use]
pub(super) struct Taken<'a> {
    from: &'a InHand,
    call: Ulid,
    keep: bool,
}

impl Taken<'_> {
    /// Leaves the call in hand.
    pub(super) fn keep(mut self) {
        self.keep = true;
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if !self.keep {
            self.from.calls().remove(&self.call);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_two_that_take_a_call_has_it_and_the_other_does_not_let_it_go() {
        let hand = InHand::default();
        let taken = hand.take(Ulid(1)).unwrap();
        assert!(hand.take(Ulid(1)).is_none());
        assert!(hand.has(Ulid(1)), "the second one let nothing go");
        taken.keep();
        assert_eq!(hand.texts(), [Ulid(1).to_string()]);
        drop(hand.until_dropped(Ulid(1)));
        assert!(!hand.has(Ulid(1)));
        drop(hand.take(Ulid(1)));
        assert!(hand.take(Ulid(1)).is_some());
    }
}
