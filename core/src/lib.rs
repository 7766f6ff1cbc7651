//! Annotated actions for agents.
//!
//! An agent's tool surface is exactly its grant, and both the surface and the enforcement come from
//! one annotation on the handler.
//!
//! # One handler
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
//! ```
//!
//! [`action`](macro@action) registers the handler and its descriptor together; nothing is listed
//! anywhere else. Every binary that links it has it:
//!
//! ```
//! # use actum::{ActionError, action};
//! # #[derive(serde::Deserialize, schemars::JsonSchema)]
//! # struct Multiply {
//! #     /// The first number.
//! #     a: i64, b: i64 }
//! # #[action(id = "math.multiply", description = "Multiply two numbers.", read_only)]
//! # async fn multiply(ask: Multiply) -> Result<i64, ActionError> { Ok(ask.a * ask.b) }
//! let registry = actum::Registry::linked()?;
//! let catalog = registry.catalog();
//! let tool = catalog.tool_descriptor_for("math.multiply").expect("it is linked in");
//! assert_eq!(tool.name, "math-multiply");
//! assert_eq!(tool.parameters_schema["properties"]["a"]["description"], "The first number.");
//! # Ok::<(), actum::registry::RegistryFaults>(())
//! ```
//!
//! # From a grant to a view
//!
//! What an agent may see and do is its [`TaskGrant`]. A kernel composes one out of an event and the
//! operator's [manifests](authority), and seals it. [Projected](project()) over the catalog it is the
//! list of tools that the agent's model gets; what is not granted never enters that list.
//!
//! # From a call to a result
//!
//! A worker can post any id. [`gate`](gate::gate) decides, right before dispatch, and alone makes the
//! [`Permit`](gate::Permit) that a handler is reached with:
//!
//! ```
//! # use std::sync::Arc;
//! # use actum::{ActionError, Registry, SealedGrant, TaskGrant, action, project};
//! # use actum::gate::{Evidence, Origin, Request, Verdict, gate};
//! # use actum::grant::SealKey;
//! # use serde_json::json;
//! # #[action(id = "door.state", description = "Tell whether the door is open.", read_only)]
//! # async fn state() -> Result<bool, ActionError> { Ok(true) }
//! # #[action(id = "door.unlock", description = "Unlock the door.")]
//! # async fn unlock() -> Result<(), ActionError> { Ok(()) }
//! # let registry = Registry::new(actum::actions![state, unlock], [])?;
//! # let catalog = registry.catalog();
//! # let none = format!("sha256:{}", "0".repeat(64));
//! # let grant: TaskGrant = serde_json::from_value(json!({
//! #     "id": "00000000000000000000000001", "task_id": "00000000000000000000000002",
//! #     "event_id": "00000000000000000000000003", "principal": {"kind": "known", "id": "ada"},
//! #     "purpose": "Look after the door.", "allowed_actions": ["door.state"],
//! #     "approval_required_actions": [], "denied_actions": [], "allowed_egress_classes": [],
//! #     "output_channels": [], "selection_tokens": {},
//! #     "limits": {"max_model_calls": 1, "max_artifacts": 1, "max_runtime_seconds": 60},
//! #     "mode": "live", "reply_to": null, "issued_at": "2024-01-01T00:00:00Z",
//! #     "expires_at": "2024-01-01T00:01:00Z", "authority_sources": [],
//! #     "policy_revision": none, "catalog_digest": none,
//! # }))?;
//! # let now = grant.issued_at;
//! # let key = SealKey::new([7; 32]);
//! // The grant allows `door.state`. There is `door.unlock` too, and nobody granted it.
//! let grant = SealedGrant::seal(grant, &key)?.verify(&key)?;
//! let view = project(&grant, &catalog);
//! assert_eq!(view.tools().map(|tool| tool.id().as_str()).collect::<Vec<_>>(), ["door.state"]);
//!
//! let call = |action: &str| Arc::new(Request {
//!     action: action.to_owned(),
//!     arguments: serde_json::Map::new(),
//!     payload_digest: None,
//!     target_digest: None,
//!     selection_token: None,
//!     origin: Origin::Worker,
//! });
//! let [unlock, state] = ["door.unlock", "door.state"].map(call);
//! let decide = |call| gate(&grant, call, &catalog, Evidence::default(), now);
//! assert!(matches!(decide(&unlock), Verdict::Deny(_)));
//!
//! let Verdict::Allow(permit) = decide(&state) else { panic!("it is granted") };
//! let admitted = registry.admit(permit).expect("its arguments fit");
//! assert_eq!(admitted.action().as_str(), "door.state");
//! // `admitted.run(context)` is the handler's future. A kernel records the decision first.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `docs/actions.md` in the repository has every argument of the annotation with its errors.
//! [`testing`] is one line that checks a crate's actions.
//!
//! This crate is pure: no I/O, no clock, no async runtime. The `actum-kernel` crate is the server
//! around it.

extern crate self as actum;

#[doc(hidden)]
pub mod __private;
pub mod action;
pub mod api_target;
pub mod authority;
pub mod authorization;
pub mod bound;
pub mod caller;
pub mod catalog;
pub mod content;
mod declare;
pub mod descriptor;
pub mod difference;
pub mod digest;
pub mod explain;
pub mod gate;
pub mod grant;
pub mod id;
pub mod json;
pub mod lock;
mod presentation;
pub mod project;
pub mod provider;
pub mod redact;
pub mod registry;
pub mod requirement;
pub mod resource;
pub mod schema;
pub mod testing;
pub mod upstream;

pub use action::{Action, ActionError, Call, Resources, Selection};
pub use bound::{Bound, BoundArgument};
pub use caller::Caller;
pub use catalog::{ActionCatalog, EgressDeclaration};
pub use content::Content;
pub use descriptor::{Hints, ToolDescriptor};
pub use digest::Digest;
pub use grant::{SealedGrant, TaskGrant, VerifiedGrant};
pub use id::{ActionId, ToolName};
pub use project::{CatalogView, project};
pub use redact::{Confidential, Secret};
pub use registry::Registry;
pub use requirement::{Class, Requirements};
/// The version that `actum` was built with; [`serde`] tells how to use it from here.
pub use schemars;
/// The version that `actum` was built with, for a crate that depends on nothing else. The derives of
/// it and of [`schemars`] must be told where they are:
///
/// ```
/// use actum::{ActionError, action, schemars, serde};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// #[serde(crate = "actum::serde")]
/// #[schemars(crate = "actum::schemars")]
/// struct Find {
///     words: String,
/// }
///
/// #[action(id = "mail.find", description = "Find mail.")]
/// async fn find(ask: Find) -> Result<(), ActionError> {
///     let _ = ask.words;
///     Ok(())
/// }
/// ```
pub use serde;

/// Declares the function below it as an action.
///
/// | argument | meaning |
/// |---|---|
/// | `id = "..."` | the action id, required: dotted lower-case segments, optionally `:qualifier` |
/// | `description = "..."` | one line for the model, required |
/// | `title = "..."` | a short title for people |
/// | `approval_required` | every call waits for the owner, whatever a grant says |
/// | `selection_token = "..."` | a call must present a selection token of this type |
/// | `idempotency_key_required` | a call must come with an idempotency key, under which it runs once |
/// | `egress(channels = ["..."], class = "...")` | what leaves the kernel when it runs |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | hints about effects |
/// | `non_delegable` | no grant may hand it on |
/// | `class = control_plane`, `always` or `optional` | how an actor comes by it: never, always, or by claims; see [`Class`] |
/// | `requires("...", ...)` | claims, all of which the actor or its scenario must hold |
/// | `roles("...", ...)` | roles, one of which the actor must have |
/// | `modes("...", ...)` | task modes, one of which its task must have |
/// | `reads_secrets` | it reads values of secrets, which policy has to switch on |
/// | `escape_hatch(method = "...", path = "...")` | it sends what these two arguments say, which policy has to allow |
/// | `interaction = "..."` | it turns to a person in the way that this argument says, which policy has to allow |
/// | `resource = "..."` | an address at which what it reads can be read, such as `"note:{name}"`, with arguments for variables; see [`resource`] |
/// | `prompt` | people can choose it as a prompt |
/// | `redact("$.path" = "...", ...)` | values of its arguments and its result that are seen as these texts |
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
/// assert!(by_hand.catalog().is_dispatchable("mail.count"));
/// # Ok::<(), actum::registry::RegistryFaults>(())
/// ```
pub use actum_macros::actions;
