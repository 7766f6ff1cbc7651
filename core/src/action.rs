//! An action: what `#[action]` makes of a handler, and what a handler is given.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use ulid::Ulid;

use crate::caller::Caller;
use crate::descriptor::Hints;
use crate::digest::Digest;
use crate::id::ActionId;
use crate::redact::{Confidential, Watch};
use crate::requirement::{Class, EscapeHatch, Requirements, folded_role};
use crate::schema::{ArgumentFault, SchemaFault};

/// A call whose arguments are read: all that is left is to run it.
pub type Prepared = Box<dyn FnOnce(HandlerContext) -> HandlerFuture + Send>;

/// A handler's future.
pub type HandlerFuture = Pin<Box<dyn Future<Output = Result<Confidential, ActionError>> + Send>>;

/// A check of one call's arguments, as they were read: all that is left is to look.
pub type PreparedCheck = Box<dyn FnOnce(HandlerContext) -> CheckFuture + Send>;

/// What a check finds: every fault of the arguments, none where they are as they should be.
pub type CheckFuture =
    Pin<Box<dyn Future<Output = Result<Vec<ArgumentFault>, ActionError>> + Send>>;

/// The one declaration of an action, made by `#[action]` and nothing else.
#[derive(Debug, Clone, Copy)]
pub struct Action {
    #[doc(hidden)]
    pub id: &'static str,
    #[doc(hidden)]
    pub description: &'static str,
    #[doc(hidden)]
    pub title: Option<&'static str>,
    #[doc(hidden)]
    pub approval_required: bool,
    #[doc(hidden)]
    pub idempotency_key_required: bool,
    #[doc(hidden)]
    pub non_delegable: bool,
    #[doc(hidden)]
    pub selection_token: Option<&'static str>,
    #[doc(hidden)]
    pub egress_channels: Option<&'static [&'static str]>,
    #[doc(hidden)]
    pub egress_class: Option<&'static str>,
    #[doc(hidden)]
    pub asks: Asks,
    #[doc(hidden)]
    pub resource: Option<&'static str>,
    #[doc(hidden)]
    pub prompt: bool,
    #[doc(hidden)]
    pub redact: &'static [(&'static str, &'static str)],
    #[doc(hidden)]
    pub hints: Hints,
    #[doc(hidden)]
    pub at: Place,
    #[doc(hidden)]
    pub parameters: fn() -> Result<Value, SchemaFault>,
    #[doc(hidden)]
    pub output: fn() -> Result<Option<Value>, SchemaFault>,
    #[doc(hidden)]
    pub needs: &'static [fn() -> HostType],
    #[doc(hidden)]
    pub prepare: fn(Value) -> Result<Prepared, serde_json::Error>,
    #[doc(hidden)]
    pub check: Option<fn(Value) -> Result<PreparedCheck, serde_json::Error>>,
}

/// What an annotation asks of whoever calls; [`Requirements`] is the checked form.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Asks {
    pub class: Option<Class>,
    pub claims: &'static [&'static str],
    pub roles: &'static [&'static str],
    pub modes: &'static [&'static str],
    pub reads_secrets: bool,
    /// The arguments with the method and with the path.
    pub escape_hatch: Option<(&'static str, &'static str)>,
    pub interaction: Option<&'static str>,
}

#[doc(hidden)]
impl Asks {
    /// Nothing is asked.
    pub const NOTHING: Self = Self {
        class: None,
        claims: &[],
        roles: &[],
        modes: &[],
        reads_secrets: false,
        escape_hatch: None,
        interaction: None,
    };

    pub(crate) fn requirements(&self) -> Requirements {
        let texts = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
        Requirements {
            class: self.class,
            claims: texts(self.claims),
            roles: self.roles.iter().map(|role| folded_role(role)).collect(),
            modes: texts(self.modes),
            reads_secrets: self.reads_secrets,
            escape_hatch: self.escape_hatch.map(|(method, path)| EscapeHatch {
                method: method.to_owned(),
                path: path.to_owned(),
            }),
            interaction: self.interaction.map(str::to_owned),
        }
    }
}

inventory::collect!(Action);

impl Action {
    /// The id, as written in the annotation.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// Where the annotation stands.
    #[must_use]
    pub fn place(&self) -> Place {
        self.at
    }

    /// The types that the host must give to the handler, [`Call`], [`Caller`] and [`Selection`] aside.
    pub fn host_types(&self) -> impl Iterator<Item = HostType> {
        self.needs
            .iter()
            .map(|need| need())
            .filter(|need| !need.is_of_the_call())
    }

    /// Whether the handler takes a [`Selection`].
    #[must_use]
    pub fn takes_selection(&self) -> bool {
        self.needs
            .iter()
            .any(|need| need().id == TypeId::of::<Selection>())
    }
}

/// A place in source code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file, as the compiler names it.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The module path.
    pub module: &'static str,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A type that a handler takes by reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostType {
    id: TypeId,
    name: &'static str,
}

impl HostType {
    /// The type `T`.
    #[must_use]
    pub fn of<T: Any>() -> Self {
        Self {
            id: TypeId::of::<T>(),
            name: type_name::<T>(),
        }
    }

    /// Its name, for people.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    fn is_of_the_call(&self) -> bool {
        let of_the_call = [
            TypeId::of::<Call>(),
            TypeId::of::<Caller>(),
            TypeId::of::<Selection>(),
        ];
        of_the_call.contains(&self.id)
    }
}

/// What is said of an id or a crate beside any handler; made by [`known!`](crate::known),
/// [`kernel_origin!`](crate::kernel_origin) and [`pack!`](crate::pack).
#[derive(Debug, Clone, Copy)]
pub struct Declaration {
    #[doc(hidden)]
    pub id: &'static str,
    #[doc(hidden)]
    pub kind: DeclarationKind,
    #[doc(hidden)]
    pub at: Place,
}

inventory::collect!(Declaration);

/// What a [`Declaration`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclarationKind {
    /// It exists, and nothing dispatches it.
    Known,
    /// The kernel itself may originate it, without a grant's lists.
    KernelOrigin,
    /// It is the control plane's own: it exists, and no agent sees it or calls it.
    ControlPlane,
    /// The crate of this name is linked, and has these actions; any one, where none is named.
    Pack {
        /// The ids.
        promises: &'static [&'static str],
    },
}

/// One call, as its handler may know it.
///
/// A handler is dropped when its time is over, and when the kernel is through with waiting for it as it stops: at an
/// `.await`, and not in between. What has to be put in order then belongs into the `Drop` of a value that the handler
/// holds. Tasks and threads that it started go on; a `JoinSet` that it holds ends its own. Nobody else cancels a
/// handler: a worker that hangs up does not.
#[derive(Debug, Clone)]
pub struct Call {
    /// The call's own id. A call that is resumed after a crash has the same one, so that it serves as the idempotency key
    /// of what the handler asks others to do.
    pub request_id: Ulid,
    /// The task that it belongs to.
    pub task_id: Ulid,
    /// The action.
    pub action: ActionId,
    /// The principal that the task's grant was issued to.
    pub principal: String,
    /// The channel that the task's event came by, for answers to it.
    pub reply_to: Option<ReplyTo>,
    /// When the call was admitted; for one that is resumed, when it was resumed.
    pub at: Timestamp,
    /// Whether it runs because it was approved, as it is.
    pub approved: bool,
    /// When the handler will be dropped if it has not ended, by the kernel's clock. A handler that begins what it cannot
    /// finish in time leaves a call of unknown outcome.
    pub deadline: Timestamp,
    /// The revision of the manifests that it was decided under.
    pub revision: Digest,
}

/// The one place that a reply of a task may go to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplyTo {
    /// What kind of channel: the event's source, such as `telegram`.
    pub source: String,
    /// The account on it, such as a chat id.
    pub account: String,
}

/// What the owner selected, and the kernel minted a token for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The token's type, such as `email_thread_selection`.
    pub token_type: String,
    /// What was selected, such as a thread id.
    pub target: String,
}

/// The values that the host registered, one for each type.
#[derive(Clone, Default)]
pub struct Resources(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl Resources {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value; one of the same type is replaced.
    #[must_use]
    pub fn with<T: Any + Send + Sync>(mut self, resource: T) -> Self {
        self.0.insert(TypeId::of::<T>(), Arc::new(resource));
        self
    }

    /// The value of type `T`.
    #[must_use]
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// Whether there is a value of this type.
    #[must_use]
    pub fn has(&self, wanted: HostType) -> bool {
        self.0.contains_key(&wanted.id)
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resources({})", self.0.len())
    }
}

/// All that a handler can be given, besides what the model filled in.
#[derive(Debug)]
pub struct HandlerContext {
    /// The call.
    pub call: Call,
    /// The worker that waits for it.
    pub caller: Caller,
    /// What the owner selected, where the action takes a selection token.
    pub selection: Option<Selection>,
    /// What the host registered.
    pub resources: Arc<Resources>,
}

impl HandlerContext {
    /// The value for a parameter of type `&T`.
    pub(crate) fn host<T: Any>(&self) -> Result<&T, ActionError> {
        let of_the_call = [
            Some(&self.call as &dyn Any),
            Some(&self.caller as &dyn Any),
            self.selection
                .as_ref()
                .map(|selection| selection as &dyn Any),
        ];
        of_the_call
            .into_iter()
            .flatten()
            .find_map(|value| value.downcast_ref())
            .or_else(|| self.resources.get())
            .ok_or_else(|| {
                // The start refuses an action whose resources are missing, so this is a selection
                // that is not there.
                ActionError::failed(format!(
                    "nothing of type {} for this call",
                    type_name::<T>()
                ))
            })
    }
}

/// Why a handler did not do what it was asked.
///
/// The text is for the operator's log. A worker is told only the kind.
#[derive(Debug)]
pub struct ActionError {
    kind: ActionErrorKind,
    message: String,
}

/// The kind of a handler's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionErrorKind {
    /// What it needs is not configured, or not there now.
    Unavailable,
    /// It was tried and failed.
    Failed,
    /// It was tried, and whether it took effect is not known.
    OutcomeUnknown,
}

impl ActionError {
    /// Something that the handler needs is not configured or not reachable.
    #[must_use]
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self {
            kind: ActionErrorKind::Unavailable,
            message: message.into(),
        }
    }

    /// It failed.
    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        Self {
            kind: ActionErrorKind::Failed,
            message: message.into(),
        }
    }

    /// It was begun, and whether it took effect is not known: a request was sent, and no answer came.
    /// A person has to find out.
    #[must_use]
    pub fn outcome_unknown(message: impl Into<String>) -> Self {
        Self {
            kind: ActionErrorKind::OutcomeUnknown,
            message: message.into(),
        }
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> ActionErrorKind {
        self.kind
    }

    /// The error without what a watch has seen to be secret.
    pub(crate) fn scrubbed(self, watch: &Watch) -> Self {
        let message = watch.scrub(&self.message).into_owned();
        Self { message, ..self }
    }

    /// The text for the operator's log.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// `?` works on any error, which then counts as a failure. `ActionError` is therefore not an
/// [`std::error::Error`] itself.
impl<E: std::error::Error> From<E> for ActionError {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(": ");
            message.push_str(&cause.to_string());
            source = cause.source();
        }
        Self::failed(message)
    }
}
