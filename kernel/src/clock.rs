//! The time, as something that can be handed in.

use std::fmt;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

/// A clock.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The system's.
    #[must_use]
    pub fn system() -> Self {
        Self(Arc::new(Timestamp::now))
    }

    /// The system's, so many seconds fast, or slow if there is a minus. A time that no calendar has is the system's.
    #[must_use]
    pub fn skewed(seconds: i32) -> Self {
        let skew = SignedDuration::from_secs(seconds.into());
        Self::of(move || {
            let now = Timestamp::now();
            now.checked_add(skew).unwrap_or(now)
        })
    }

    /// One that says what `now` says.
    #[must_use]
    pub fn of(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
