//! Redaction: a secret reaches the model, and nothing else that anyone can look into.
//!
//! Two things say what is secret: the type of a field, [`Secret`], and [paths](RedactionPath) that
//! are declared on an action, its [`Redactions`]. What comes out of a handler is a [`Confidential`]
//! from then on, which keeps the raw value apart from what is stored and shown. Texts that a handler
//! makes itself, of errors and panics, are [scrubbed](Scrubber) of the secrets that a [`Watch`] saw it
//! make.
//!
//! A path that can find nothing in the values of a [schema](reach) is a mistake, and is to be refused
//! at the start.

mod confidential;
mod layers;
mod path;
mod reach;
mod redactions;
mod scrub;
mod secret;
mod watch;

pub use confidential::{Confidential, Delivery};
pub use path::{MAX_PATH_LENGTH, MAX_STEPS, PathFault, PathMistake, RedactionPath};
pub use reach::{Reach, can_match, reach};
pub use redactions::{MAX_MARKER_LENGTH, MAX_REDACTIONS, Redaction, RedactionFault, Redactions};
pub use scrub::{MIN_SCRUBBED, MIN_SCRUBBED_DIGITS, Scrubber};
pub use secret::Secret;
pub use watch::{Watch, scrub_current};

/// What stands where a secret is not shown.
pub const MARKER: &str = "[SECRET]";
