//! A call that may be dispatched: permitted by the gate, with arguments that its handler's type has read.

use std::any::type_name;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;

use serde_json::Value;

use crate::action::{HandlerContext, HandlerFuture, Prepared};
use crate::descriptor::Hints;
use crate::gate::Permit;
use crate::id::ActionId;
use crate::redact::{Redactions, Watch};

/// Arguments that were read.
pub(super) struct Read {
    pub(super) hints: Hints,
    pub(super) prepared: Prepared,
    pub(super) shown: ShownArguments,
    pub(super) hidden: Arc<Redactions>,
    pub(super) watch: Watch,
}

/// Arguments that fit, as they may be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownArguments {
    /// The arguments; what is secret in them is hidden.
    pub value: Value,
    /// Whether anything is hidden: then they are not what the handler is given.
    pub hides: bool,
}

/// A permitted call whose arguments fit its handler. INVARIANT: only [`Registry::admit`](super::Registry::admit) makes one,
/// out of a [`Permit`], so whatever runs has passed the gate.
pub struct Admitted {
    pub(super) permit: Permit,
    pub(super) read: Read,
}

impl Admitted {
    /// The arguments as they may be looked at: what is secret in them is hidden.
    #[must_use]
    pub fn shown_arguments(&self) -> &ShownArguments {
        &self.read.shown
    }

    /// What keeps the call's secrets out of the texts that are made of it.
    #[must_use]
    pub fn watch(&self) -> Watch {
        self.read.watch.clone()
    }

    /// The action.
    #[must_use]
    pub fn action(&self) -> &ActionId {
        self.permit.action()
    }

    /// The permit.
    #[must_use]
    pub fn permit(&self) -> &Permit {
        &self.permit
    }

    /// Whether the handler says that it changes nothing.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.read.hints.read_only
    }

    /// Whether the handler says that a second run with the same arguments changes nothing more.
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        self.read.hints.idempotent
    }

    /// Runs the handler. The future does nothing until it is polled. What is declared to be secret in
    /// its result is hidden, and its error is rid of the secrets that were seen.
    #[must_use]
    pub fn run(self, context: HandlerContext) -> HandlerFuture {
        let Read {
            prepared,
            hidden,
            watch,
            ..
        } = self.read;
        let mut handler = watch.during(|| prepared(context));
        Box::pin(async move {
            let ended = poll_fn(|cx| watch.during(|| handler.as_mut().poll(cx))).await;
            let mut result = ended.map_err(|error| error.scrubbed(&watch))?;
            result.redact(&hidden);
            Ok(result)
        })
    }
}

impl fmt::Debug for Admitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments may be private; a debug print must not spread them.
        write!(f, "{}({})", type_name::<Self>(), self.permit.action())
    }
}
