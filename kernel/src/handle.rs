//! The kernel itself, for handlers that act through it.

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use actum::ActionError;

use crate::Kernel;

/// The kernel that a handler runs in. It is weak: the kernel holds its handlers' resources, and not the other way
/// round.
#[derive(Default)]
pub struct KernelHandle(OnceLock<Weak<Kernel>>);

impl fmt::Debug for KernelHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KernelHandle")
    }
}

impl KernelHandle {
    /// Says which one it is, once.
    pub(crate) fn give(&self, kernel: &Arc<Kernel>) {
        let _ = self.0.set(Arc::downgrade(kernel));
    }

    /// Says that what is read at an address is another by now, as [`Kernel::announce`] does.
    pub fn announce(&self, uri: &str) {
        if let Some(kernel) = self.0.get().and_then(Weak::upgrade) {
            kernel.announce(uri);
        }
    }

    /// The kernel.
    ///
    /// # Errors
    /// [`ActionError`] when it is gone, as no handler that it runs will see.
    pub(crate) fn kernel(&self) -> Result<Arc<Kernel>, ActionError> {
        let kernel = self.0.get().and_then(Weak::upgrade);
        kernel.ok_or_else(|| ActionError::unavailable("the kernel is stopping"))
    }
}
