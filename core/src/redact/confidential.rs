//! What came out of a handler, with what is secret in it kept apart.

use std::cell::Cell;
use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{Redactions, Scrubber};

/// What came out of a handler: the form that anyone may see, and the raw one, where they differ.
///
/// Written, printed and cloned, it is the redacted form; [`deliver`](Self::deliver) alone gives the
/// raw one.
///
/// ```
/// # use actum::redact::{Confidential, Redactions, Secret};
/// # use serde_json::json;
/// # #[derive(serde::Serialize)]
/// # struct Found { name: &'static str, value: Secret<&'static str>, headers: serde_json::Value }
/// let found = Found {
///     name: "deploy key",
///     value: Secret::new("a1b2c3"),
///     headers: json!({"Cookie": "id=7"}),
/// };
/// let mut outcome = Confidential::of(&found)?;
/// outcome.redact(&Redactions::parse([("$.headers.cookie", "[REDACTED]")]).unwrap_or_default());
/// assert_eq!(
///     serde_json::to_value(&outcome)?,
///     json!({"name": "deploy key", "value": "[SECRET]", "headers": {"Cookie": "[REDACTED]"}}),
/// );
/// let delivery = outcome.deliver();
/// assert!(delivery.model_only);
/// assert_eq!(delivery.value["value"], "a1b2c3");
/// assert_eq!(delivery.value["headers"]["Cookie"], "id=7");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub struct Confidential {
    redacted: Value,
    /// What the redacted form hides something of. INVARIANT: nothing but `deliver` lets it out.
    raw: Option<Value>,
}

/// A value on its way to the model, with what is secret in it. It has no form to be stored, printed or
/// copied in.
pub struct Delivery {
    /// The raw value.
    pub value: Value,
    /// Whether it holds what only the model may get.
    pub model_only: bool,
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery")
            .field("model_only", &self.model_only)
            .finish_non_exhaustive()
    }
}

impl Confidential {
    /// Writes a value as JSON: redacted, and raw as well if a [`Secret`](super::Secret) was in it.
    ///
    /// For that, secrets write themselves raw while the value is written the second time, in this
    /// thread. So an implementation of `Serialize` is to write into its serializer and nowhere else.
    ///
    /// # Errors
    /// The value cannot be written as JSON. The text holds no secret, unless an implementation of
    /// `Serialize` puts one that it [exposed](super::Secret::expose) there itself.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        let redacting = Writing::begin(Mode::Redacting { met: false });
        let redacted = serde_json::to_value(value)?;
        let has_secret = redacting.mode() == Mode::Redacting { met: true };
        drop(redacting);
        if !has_secret {
            return Ok(Self {
                redacted,
                raw: None,
            });
        }
        let revealing = Writing::begin(Mode::Revealing);
        let raw = serde_json::to_value(value).map_err(|_| {
            serde::ser::Error::custom("a secret value in it cannot be written as JSON")
        })?;
        drop(revealing);
        let raw = (raw != redacted).then_some(raw);
        Ok(Self { redacted, raw })
    }

    /// Hides more: what stands at the paths.
    pub fn redact(&mut self, redactions: &Redactions) {
        if redactions.is_empty() {
            return;
        }
        let before = self.redacted.clone();
        redactions.apply(&mut self.redacted);
        if self.raw.is_none() && self.redacted != before {
            self.raw = Some(before);
        }
    }

    /// The form that anyone may see.
    #[must_use]
    pub fn redacted(&self) -> &Value {
        &self.redacted
    }

    /// How long it is for the model, in bytes of JSON.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.raw
            .as_ref()
            .unwrap_or(&self.redacted)
            .to_string()
            .len()
    }

    /// Whether there is something that only the model may get. A clone has nothing of the kind.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.raw.is_some()
    }

    /// Opens it, for the model.
    #[must_use]
    pub fn deliver(self) -> Delivery {
        let model_only = self.raw.is_some();
        Delivery {
            value: self.raw.unwrap_or(self.redacted),
            model_only,
        }
    }

    /// The texts that were hidden, to be kept out of logs.
    #[must_use]
    pub fn secrets(&self) -> Scrubber {
        let mut secrets = Scrubber::default();
        if let Some(raw) = &self.raw {
            secrets.note_differences(raw, &self.redacted);
        }
        secrets
    }
}

/// The redacted form.
impl Serialize for Confidential {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.redacted.serialize(serializer)
    }
}

/// The redacted form alone.
impl Clone for Confidential {
    fn clone(&self) -> Self {
        Self {
            redacted: self.redacted.clone(),
            raw: None,
        }
    }
}

impl fmt::Debug for Confidential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Confidential")
            .field("redacted", &self.redacted)
            .field("is_secret", &self.is_secret())
            .finish()
    }
}

/// What a secret does when it is written in this thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// It writes the marker.
    Outside,
    /// It writes the marker, and that it was met is kept.
    Redacting { met: bool },
    /// It writes its value.
    Revealing,
}

thread_local! {
    /// INVARIANT: only `Confidential::of` makes it anything but `Outside`, through [`Writing`].
    static MODE: Cell<Mode> = const { Cell::new(Mode::Outside) };
}

/// A mode for as long as it lives, and then the one before: after a panic, and where one value is
/// written in the midst of another.
struct Writing {
    before: Mode,
}

impl Writing {
    fn begin(mode: Mode) -> Self {
        Self {
            before: MODE.replace(mode),
        }
    }

    fn mode(&self) -> Mode {
        MODE.get()
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        MODE.set(self.before);
    }
}

/// Asked by each secret as it is written: whether it writes its value.
pub(super) fn reveals_this_secret() -> bool {
    if let Mode::Redacting { .. } = MODE.get() {
        MODE.set(Mode::Redacting { met: true });
    }
    MODE.get() == Mode::Revealing
}

#[cfg(test)]
mod tests;
