//! New ids of records, as something that can be handed in.

use std::fmt;
use std::sync::Arc;

use ulid::Ulid;

/// Where new ids come from.
#[derive(Clone)]
pub struct Ids(Arc<dyn Fn() -> Ulid + Send + Sync>);

impl Ids {
    /// ULIDs of the system's time and random numbers.
    #[must_use]
    pub fn random() -> Self {
        Self(Arc::new(Ulid::generate))
    }

    /// Those that `next` gives. INVARIANT: no two of one kernel's store are the same.
    #[must_use]
    pub fn of(next: impl Fn() -> Ulid + Send + Sync + 'static) -> Self {
        Self(Arc::new(next))
    }

    /// A new one.
    #[must_use]
    pub fn next(&self) -> Ulid {
        (self.0)()
    }
}

impl fmt::Debug for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ids")
    }
}
