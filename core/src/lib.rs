//! Annotated actions for agents.
//!
//! An agent's tool surface is exactly its grant, and both the surface and the enforcement come from
//! one annotation on the handler.
//!
//! ```
//! use actum::{ActionError, action};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! /// What the model fills in.
//! #[derive(Deserialize, JsonSchema)]
//! struct Add {
//!     /// The first number.
//!     a: i64,
//!     /// The second number.
//!     b: i64,
//! }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Sum {
//!     sum: i64,
//! }
//!
//! #[action(id = "math.add", description = "Add two numbers.", read_only)]
//! async fn add(ask: Add) -> Result<Sum, ActionError> {
//!     let sum = ask.a.checked_add(ask.b).ok_or_else(|| ActionError::failed("too large"))?;
//!     Ok(Sum { sum })
//! }
//!
//! let registry = actum::Registry::linked()?;
//! let catalog = registry.catalog();
//! let tool = catalog.tool_descriptor_for("math.add").expect("it is linked in");
//! assert_eq!(tool.name, "math-add");
//! assert_eq!(tool.parameters_schema["properties"]["a"]["description"], "The first number.");
//! # Ok::<(), actum::registry::RegistryFaults>(())
//! ```
//!
//! From here data runs down one line: an event leads through the [`authority`] manifests to a
//! [`TaskGrant`]; the grant is [projected](project()) over the [`ActionCatalog`] into
//! what a worker sees; and every call that a worker posts is decided by [`gate`](gate::gate) right
//! before it is dispatched.
//!
//! This crate is pure: no I/O, no clock, no async runtime. The `actum-kernel` crate is the server
//! around it.

extern crate self as actum;

#[doc(hidden)]
pub mod __private;
pub mod action;
pub mod authority;
pub mod catalog;
mod declare;
pub mod descriptor;
pub mod digest;
pub mod gate;
pub mod grant;
pub mod id;
pub mod json;
pub mod project;
pub mod provider;
pub mod registry;
pub mod schema;
pub mod testing;

pub use action::{Action, ActionError, Call, Resources, Selection};
pub use catalog::{ActionCatalog, EgressDeclaration};
pub use descriptor::{Hints, ToolDescriptor};
pub use digest::Digest;
pub use grant::{SealedGrant, TaskGrant, VerifiedGrant};
pub use id::{ActionId, ToolName};
pub use project::{CatalogView, project};
pub use registry::Registry;

/// Declares the function below it as an action.
///
/// | argument | meaning |
/// |---|---|
/// | `id = "..."` | the action id, required: dotted lower-case segments, optionally `:qualifier` |
/// | `description = "..."` | one line for the model, required |
/// | `title = "..."` | a short title for people |
/// | `approval_required` | every call waits for the owner, whatever a grant says |
/// | `selection_token = "..."` | a call must present a selection token of this type |
/// | `egress(channels = ["..."], class = "...")` | what leaves the kernel when it runs |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | hints about effects |
/// | `non_delegable` | no grant may hand it on |
/// | `crate = path` | where `actum` is, for a crate that has it under another name or through another crate |
///
/// Parameters by reference are given by the host: `&T` is a resource that it registered, [`&Call`](Call)
/// the call's own context, [`&Selection`](Selection) what the owner selected. The one parameter by value is filled in
/// by the model; its type implements `Deserialize` and `JsonSchema`. The function returns
/// `Result<T, ActionError>` with a `T` that implements `Serialize` and `JsonSchema`, and stays the
/// ordinary function that it is.
pub use actum_macros::action;

/// The actions of the annotated functions that are named, for a registry that is put together by
/// hand instead of by [`Registry::linked`]: where linking cannot be relied on, or where a binary
/// wants some of the handlers that it links. It is the same registry.
///
/// ```
/// mod mail {
///     # use actum::{ActionError, action};
///     #[action(id = "mail.count", description = "Count the messages.")]
///     pub async fn count() -> Result<u8, ActionError> {
///         Ok(3)
///     }
/// }
///
/// let by_hand = actum::Registry::new(actum::actions![mail::count], [])?;
/// let linked = actum::Registry::linked()?;
/// assert_eq!(by_hand.catalog().digest()?, linked.catalog().digest()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use actum_macros::actions;
