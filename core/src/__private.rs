//! What the expansion of `#[action]` calls. Not for anyone else; it may change at any time.

use std::any::Any;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::action::{ActionError, ActionOutput, HandlerContext};

pub use crate::action::{Action, Declaration, DeclarationKind, HandlerFuture, HostType, Place};
pub use crate::descriptor::Hints;
pub use crate::id::check_action_id;
pub use crate::schema::{SchemaFault, no_arguments};
pub use inventory;

/// Said when a payload cannot be read.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an action's payload: it does not implement `Deserialize`",
    label = "the model cannot fill this in",
    note = "add `#[derive(Deserialize)]` to it; what the host gives is taken by reference instead"
)]
pub trait PayloadDeserialize {}
#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> PayloadDeserialize for T {}

/// Said when a payload cannot be described.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an action's payload: it does not implement `JsonSchema`",
    label = "the model cannot be told what goes in here",
    note = "add `#[derive(JsonSchema)]` to it; what the host gives is taken by reference instead"
)]
pub trait PayloadSchema {}
#[diagnostic::do_not_recommend]
impl<T: JsonSchema> PayloadSchema for T {}

/// Said when a resource cannot be shared between calls.
#[diagnostic::on_unimplemented(
    message = "`&{Self}` cannot be given to a handler: `{Self}` is not shareable between calls",
    label = "not `Send + Sync + 'static`",
    note = "put what is not thread-safe behind a mutex; the model's arguments are taken by value"
)]
pub trait Resource {}
#[diagnostic::do_not_recommend]
impl<T: Any + Send + Sync> Resource for T {}

/// Fails to compile, at the type, unless it can be read.
pub const fn payload_can_be_read<T: PayloadDeserialize>() {}
/// Fails to compile, at the type, unless it can be described.
pub const fn payload_can_be_described<T: PayloadSchema>() {}
/// Fails to compile, at the type, unless the host can hold one.
pub const fn resource_can_be_shared<T: Resource>() {}
/// Fails to compile, at the type, unless it is a handler's result.
pub const fn is_an_output<T: ActionOutput>() {}

/// The payload from arguments that the compiled schema has accepted.
///
/// # Errors
/// What serde refuses although the schema accepts it; the text names no value.
pub fn payload<T: DeserializeOwned>(arguments: Value) -> Result<T, ActionError> {
    serde_json::from_value(arguments)
        .map_err(|_| ActionError::failed("the payload type refuses what its schema accepts"))
}

/// The value for a parameter taken by reference.
///
/// # Errors
/// There is none for this call.
pub fn host<T: Any>(context: &HandlerContext) -> Result<&T, ActionError> {
    context.host()
}

/// The handler's result as JSON.
///
/// # Errors
/// The handler's own.
pub fn output<T: ActionOutput>(result: T) -> Result<Value, ActionError> {
    result.into_json()
}

/// The schema of a payload.
///
/// # Errors
/// The type has no object form.
pub fn parameters<T: JsonSchema>() -> Result<Value, SchemaFault> {
    crate::schema::arguments_of::<T>()
}

/// The schema of an action without payload.
///
/// # Errors
/// None; the shape is that of [`parameters`].
pub fn no_parameters() -> Result<Value, SchemaFault> {
    Ok(no_arguments())
}

/// The schema of a result.
pub fn output_schema<T: ActionOutput>() -> Option<Value> {
    crate::schema::result_of::<T::Value>()
}

pub use crate::action::HandlerContext as Context;
pub use serde_json::Value as Json;
