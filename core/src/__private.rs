//! What the expansion of `#[action]` calls. Not for anyone else; it may change at any time.
//!
//! What is generic here is compiled once for every handler, into the handler's crate: it is kept
//! short, with `match` where a combinator would be one more function for every handler, and hands
//! over to functions that are not generic.
//!
//! Each thing that a type must be has a trait of its own here, with the words for a type that is
//! not so. INVARIANT: the functions below ask for these traits and no others, so that the compiler
//! tells each fault once and in those words.

use std::any::Any;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::action::{ActionError, CheckFuture, HandlerContext, PreparedCheck};
use crate::redact::Confidential;
use crate::schema::ArgumentFault;

pub use crate::action::{
    Action, Asks, Declaration, DeclarationKind, HandlerFuture, HostType, Place, Prepared,
};
pub use crate::descriptor::Hints;
pub use crate::id::check_action_id;
pub use crate::requirement::Class;
pub use crate::schema::{SchemaFault, no_arguments};
pub use inventory;

/// Said when a payload cannot be read.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an action's payload: it does not implement `Deserialize`",
    label = "the model cannot fill this in",
    note = "add `#[derive(Deserialize)]` to it; what the host gives is taken by reference instead"
)]
pub trait PayloadDeserialize: DeserializeOwned {}
#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> PayloadDeserialize for T {}

/// Said when a payload cannot be described.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an action's payload: it does not implement `JsonSchema`",
    label = "the model cannot be told what goes in here",
    note = "add `#[derive(JsonSchema)]` to it; what the host gives is taken by reference instead"
)]
pub trait PayloadSchema: JsonSchema {}
#[diagnostic::do_not_recommend]
impl<T: JsonSchema> PayloadSchema for T {}

/// Said when a payload cannot go from the thread that reads it to the one that runs the handler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an action's payload: it is not `Send`",
    label = "any thread may run the handler",
    note = "hold plain values in it: `Arc` instead of `Rc`, no raw pointers"
)]
pub trait PayloadSend: Send + 'static {}
#[diagnostic::do_not_recommend]
impl<T: Send + 'static> PayloadSend for T {}

/// Said when a payload is known to be no object.
#[diagnostic::on_unimplemented(
    message = "`{T}` cannot be an action's payload: it has no fields",
    label = "a model fills in fields, by their names",
    note = "put it into a field of a struct, and take the struct"
)]
pub trait ObjectOf<T> {}
impl<T> ObjectOf<T> for MaybeAnObject {}

/// What the compiler can know of a payload: [`Shape::KIND`] is [`NotAnObject`] for the types below,
/// under whatever name, and by [`PerhapsAnObject`] it is [`MaybeAnObject`] for all others. The
/// start judges those by their schema.
pub struct Shape<T>(PhantomData<T>);
/// The start will tell.
#[derive(Clone, Copy)]
pub struct MaybeAnObject;
/// Certainly none.
#[derive(Clone, Copy)]
pub struct NotAnObject;
/// The answer where [`Shape`] has none of its own.
pub trait PerhapsAnObject {
    /// Not known.
    const KIND: MaybeAnObject = MaybeAnObject;
}
impl<T> PerhapsAnObject for Shape<T> {}

macro_rules! not_an_object {
    ($([$($generic:ident),*] $ty:ty;)*) => {$(
        impl<$($generic),*> Shape<$ty> {
            /// Certainly none.
            pub const KIND: NotAnObject = NotAnObject;
        }
    )*};
}
not_an_object! {
    [] bool; [] char; [] String; [] Box<str>; [] Value; [] serde_json::Number;
    [] u8; [] u16; [] u32; [] u64; [] u128; [] usize;
    [] i8; [] i16; [] i32; [] i64; [] i128; [] isize;
    [] f32; [] f64;
    [T] Option<T>; [T] Vec<T>; [T] Box<[T]>; [T] VecDeque<T>; [T] BTreeSet<T>; [T, S] HashSet<T, S>;
}

/// Said when a resource cannot be shared between calls.
#[diagnostic::on_unimplemented(
    message = "`&{Self}` cannot be given to a handler",
    label = "the host cannot hold this and share it between calls",
    note = "a host's value is sized and `Send + Sync + 'static`: put what is not thread-safe behind a mutex, and text or a list into a type of its own"
)]
pub trait Resource: Any + Send + Sync + Sized {}
#[diagnostic::do_not_recommend]
impl<T: Any + Send + Sync> Resource for T {}

/// Said when a handler does not return a result.
#[diagnostic::on_unimplemented(
    message = "a handler returns `Result<T, ActionError>`, not `{Self}`",
    label = "not a `Result`",
    note = "use `Result<(), ActionError>` where there is nothing to return, and `async fn` instead of returning a future"
)]
pub trait Output {
    /// The value of success.
    type Value: OutputSchema;

    /// The value as JSON, what is secret in it kept apart.
    ///
    /// # Errors
    /// The handler's own, or that the value cannot be written as JSON.
    fn into_json(self) -> Result<Confidential, ActionError>;
}
// Recommended on purpose: what a `Result` lacks is told by the traits of its parts.
impl<T: OutputSerialize + OutputSchema, E: OutputError> Output for Result<T, E> {
    type Value = T;

    fn into_json(self) -> Result<Confidential, ActionError> {
        match self {
            Ok(value) => json_of(Confidential::of(&value)),
            Err(error) => Err(error.into()),
        }
    }
}

fn json_of(written: Result<Confidential, serde_json::Error>) -> Result<Confidential, ActionError> {
    written.map_err(|error| ActionError::failed(format!("the result is no JSON: {error}")))
}

/// Said when a result cannot be written.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an action's result: it does not implement `Serialize`",
    label = "this cannot be sent to the worker",
    note = "add `#[derive(Serialize)]` to it"
)]
pub trait OutputSerialize: Serialize {}
#[diagnostic::do_not_recommend]
impl<T: Serialize> OutputSerialize for T {}

/// Said when a result cannot be described.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an action's result: it does not implement `JsonSchema`",
    label = "the model cannot be told what comes back",
    note = "add `#[derive(JsonSchema)]` to it"
)]
pub trait OutputSchema: JsonSchema {}
#[diagnostic::do_not_recommend]
impl<T: JsonSchema> OutputSchema for T {}

/// Said when a handler's error is none that the kernel can log.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a handler's error",
    label = "this does not become an `ActionError`",
    note = "return `ActionError`; `?` makes one of anything that implements `std::error::Error`"
)]
pub trait OutputError: Into<ActionError> {}
#[diagnostic::do_not_recommend]
impl<E: Into<ActionError>> OutputError for E {}

/// Fails to compile, at the type, unless it can be read.
pub const fn payload_can_be_read<T: PayloadDeserialize>() {}
/// Fails to compile, at the type, unless it can be described.
pub const fn payload_can_be_described<T: PayloadSchema>() {}
/// Fails to compile, at the type, unless another thread can run the handler with it.
pub const fn payload_can_be_sent<T: PayloadSend>() {}
/// Fails to compile, at the type, when it is known to be no object.
pub const fn payload_has_fields<T, K: ObjectOf<T> + Copy>(_: K) {}
/// Fails to compile, at the type, unless the host can hold one.
// `?Sized` leaves it to `Resource` to tell of unsized types.
#[allow(clippy::needless_maybe_sized)]
pub const fn resource_can_be_shared<T: Resource + ?Sized>() {}
/// Fails to compile, at the type, unless it is a `Result` whose value and error can be told.
pub const fn output_can_be_told<T: Output>() {}

/// Reads the payload out of arguments that fit the schema; what is left is to run the handler.
///
/// # Errors
/// What serde refuses although the schema accepts it. Its text may hold values of the caller's.
pub fn prepare<T: PayloadDeserialize + PayloadSend>(
    arguments: Value,
    run: impl FnOnce(HandlerContext, T) -> HandlerFuture + Send + 'static,
) -> Result<Prepared, serde_json::Error> {
    let payload = payload::<T>(arguments)?;
    Ok(Box::new(move |context| run(context, payload)))
}

fn payload<T: PayloadDeserialize>(arguments: Value) -> Result<T, serde_json::Error> {
    let is_empty = matches!(&arguments, Value::Object(fields) if fields.is_empty());
    match serde_json::from_value::<T>(arguments) {
        Ok(payload) => Ok(payload),
        Err(error) if !is_empty => Err(error),
        // serde writes a unit struct as `null`; a model that fills in nothing writes `{}`.
        Err(error) => serde_json::from_value::<T>(Value::Null).map_err(|_| error),
    }
}

/// Reads the payload for a check of it; what is left is to look.
///
/// # Errors
/// Those of [`prepare`].
pub fn prepare_check<T: PayloadDeserialize + PayloadSend>(
    arguments: Value,
    look: impl FnOnce(HandlerContext, T) -> CheckFuture + Send + 'static,
) -> Result<PreparedCheck, serde_json::Error> {
    let payload = payload::<T>(arguments)?;
    Ok(Box::new(move |context| look(context, payload)))
}

/// Leaves a check to be made that needs no arguments.
///
/// # Errors
/// None; the shape is that of [`prepare_check`].
pub fn prepare_check_without(
    look: impl FnOnce(HandlerContext) -> CheckFuture + Send + 'static,
) -> Result<PreparedCheck, serde_json::Error> {
    Ok(Box::new(look))
}

/// A check's future, that any thread can poll.
pub fn check_future(
    future: impl Future<Output = Result<Vec<ArgumentFault>, ActionError>> + Send + 'static,
) -> CheckFuture {
    Box::pin(future)
}

/// Leaves the handler to be run; it takes no arguments, and the schema has seen that none came.
///
/// # Errors
/// None; the shape is that of [`prepare`].
pub fn prepare_without(
    run: impl FnOnce(HandlerContext) -> HandlerFuture + Send + 'static,
) -> Result<Prepared, serde_json::Error> {
    Ok(Box::new(run))
}

/// The value for a parameter taken by reference.
///
/// # Errors
/// There is none for this call.
pub fn host<T: Resource>(context: &HandlerContext) -> Result<&T, ActionError> {
    context.host()
}

/// The handler's result as JSON.
///
/// # Errors
/// The handler's own, or that the value cannot be written as JSON.
pub fn output<T: Output>(result: T) -> Result<Confidential, ActionError> {
    result.into_json()
}

/// A handler's future, that any thread can poll.
pub fn handler_future(
    future: impl Future<Output = Result<Confidential, ActionError>> + Send + 'static,
) -> HandlerFuture {
    Box::pin(future)
}

/// The schema of a payload.
///
/// # Errors
/// The type has no object form.
pub fn parameters<T: PayloadSchema>() -> Result<Value, SchemaFault> {
    crate::schema::arguments_of::<T>()
}

/// The schema of an action without payload.
///
/// # Errors
/// None; the shape is that of [`parameters`].
pub fn no_parameters() -> Result<Value, SchemaFault> {
    Ok(no_arguments())
}

/// The schema of a result; `None` where there is nothing to tell.
///
/// # Errors
/// The schema is too large.
pub fn output_schema<T: Output>() -> Result<Option<Value>, SchemaFault> {
    crate::schema::result_of::<T::Value>()
}
