//! The secrets that a handler makes while it runs, kept out of its errors and panics.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::Value;

use super::{MARKER, Scrubber};

/// Notes each [`Secret`](super::Secret) that is made while it watches, so that the texts of a
/// handler's errors and panics can be scrubbed of them. A clone is the same watch.
///
/// It watches one thread for the time of one closure. For a future that is one poll:
///
/// ```
/// # use actum::redact::{Secret, Watch};
/// # use std::task::{Context, Poll, Waker};
/// # let mut handler = Box::pin(async {
/// #     let token = Secret::new("xyzzy-4711");
/// #     Err::<(), _>(format!("no answer for ?token={}", token.expose()))
/// # });
/// # let context = &mut Context::from_waker(Waker::noop());
/// let watch = Watch::default();
/// let Poll::Ready(Err(error)) = watch.during(|| handler.as_mut().poll(context)) else {
///     panic!("it fails at once")
/// };
/// assert_eq!(watch.scrub(&error), "no answer for ?token=[SECRET]");
/// ```
///
/// A secret that is made in a thread or a task that the handler starts is not noted; what of it comes
/// out in the handler's result is known by [`Confidential::secrets`](super::Confidential::secrets).
#[derive(Clone, Default)]
pub struct Watch(Arc<Mutex<Noted>>);

#[derive(Default)]
struct Noted {
    texts: Scrubber,
    /// What became secret as it was read, as it was given.
    given: Vec<Value>,
}

thread_local! {
    static CURRENT: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

impl Watch {
    /// Watches while the closure runs, in place of any other watch of this thread, which goes on
    /// afterwards, also after a panic.
    pub fn during<R>(&self, work: impl FnOnce() -> R) -> R {
        let _restored = Restored(replace_current(Some(self.clone())));
        work()
    }

    /// The text without the secrets that were noted so far, as [`Scrubber::scrub`] takes them out.
    #[must_use]
    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.noted().texts.scrub(text)
    }

    /// Hides, in what a payload was read from, each value that became a [`Secret`](super::Secret) by it.
    /// An equal value elsewhere in it is hidden too. Whether there was any.
    pub fn hide_in(&self, arguments: &mut Value) -> bool {
        hide(&self.noted().given, arguments)
    }

    /// Notes what a redaction of arguments took away.
    pub(crate) fn note_differences(&self, raw: &Value, redacted: &Value) {
        self.noted().texts.note_differences(raw, redacted);
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hide(secrets: &[Value], value: &mut Value) -> bool {
    if secrets.contains(value) {
        *value = Value::from(MARKER);
        return true;
    }
    // Each of them, whatever the one before had.
    let any = |found: bool, inner: &mut Value| hide(secrets, inner) | found;
    match value {
        Value::Array(items) => items.iter_mut().fold(false, any),
        Value::Object(members) => members.values_mut().fold(false, any),
        _ => false,
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

/// The text without what the watch of this thread has noted; as it is where nothing watches. For a
/// panic hook, which runs in the thread that panics, before the watch ends.
#[must_use]
pub fn scrub_current(text: &str) -> Cow<'_, str> {
    let Some(watch) = current() else {
        return Cow::Borrowed(text);
    };
    // This thread may have panicked while it was noting: it must not wait for itself.
    match watch.0.try_lock() {
        Ok(noted) => noted.texts.scrub(text),
        Err(_) => Cow::Borrowed(MARKER),
    }
}

/// Notes a value that becomes secret.
pub(super) fn note_secret<T: Serialize>(value: &T) {
    let Some(watch) = current() else {
        return;
    };
    // Before the lock is taken: this may run anything.
    let written = serde_json::to_value(value);
    let mut noted = watch.noted();
    match written {
        Ok(value) => noted.texts.note(&value),
        Err(_) => noted.texts.note_unknown(),
    }
}

/// Notes a value that is read as a secret.
pub(super) fn note_given(value: &Value) {
    if let Some(watch) = current() {
        let mut noted = watch.noted();
        noted.texts.note(value);
        noted.given.push(value.clone());
    }
}

/// Not there, too, while the thread ends.
fn current() -> Option<Watch> {
    CURRENT
        .try_with(|current| current.borrow().clone())
        .ok()
        .flatten()
}

fn replace_current(watch: Option<Watch>) -> Option<Watch> {
    CURRENT
        .try_with(|current| current.replace(watch))
        .ok()
        .flatten()
}

struct Restored(Option<Watch>);

impl Drop for Restored {
    fn drop(&mut self) {
        drop(replace_current(self.0.take()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Secret;
    use serde_json::{from_value, json};
    use std::collections::BTreeMap;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn secrets_made_while_it_watches_are_taken_out_and_no_others() {
        let watch = Watch::default();
        let _before = Secret::new("made-before");
        watch.during(|| {
            let _made = Secret::new("made-within");
            let _read: Secret<BTreeMap<String, u32>> = from_value(json!({"pin": 736451})).unwrap();
            assert_eq!(scrub_current("736451 made-within"), "[SECRET] [SECRET]");
        });
        let _after = Secret::new("made-after");
        assert_eq!(
            watch
                .clone()
                .scrub("made-before made-within 736451 made-after"),
            "made-before [SECRET] [SECRET] made-after",
        );
        assert_eq!(scrub_current("made-within"), "made-within");
    }

    #[test]
    fn one_watch_within_another_and_a_panic_leave_the_one_before() {
        let (outer, inner) = (Watch::default(), Watch::default());
        outer.during(|| {
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                inner.during(|| {
                    let _inner = Secret::new("of-the-inner");
                    panic!("as it is to");
                });
            }));
            assert!(panicked.is_err());
            let _outer = Secret::new("of-the-outer");
        });
        assert_eq!(
            inner.scrub("of-the-inner of-the-outer"),
            "[SECRET] of-the-outer"
        );
        assert_eq!(
            outer.scrub("of-the-inner of-the-outer"),
            "of-the-inner [SECRET]"
        );
        assert!(current().is_none());
    }

    #[test]
    fn another_thread_is_not_watched() {
        let watch = Watch::default();
        watch.during(|| {
            let made = std::thread::spawn(|| drop(Secret::new("of-a-thread")));
            made.join().unwrap();
        });
        assert_eq!(watch.scrub("of-a-thread"), "of-a-thread");
    }

    #[test]
    fn with_a_secret_that_cannot_be_written_nothing_is_shown() {
        let watch = Watch::default();
        watch.during(|| drop(Secret::new(BTreeMap::from([((1, 2), "no text is a key")]))));
        assert_eq!(watch.scrub("anything at all"), MARKER);
    }

    #[test]
    fn while_it_notes_nothing_is_shown() {
        let watch = Watch::default();
        let noting = watch.0.lock().unwrap();
        assert_eq!(
            watch.during(|| scrub_current("anything at all").into_owned()),
            MARKER
        );
        drop(noting);
    }
}
