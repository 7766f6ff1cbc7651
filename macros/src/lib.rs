//! `#[action]`: one annotation, from which id, description, flags, schemas, handler and
//! registration of an action all come.
//!
//! Built like a small compiler: `attr` knows the syntax, `model` knows every rule, `expand`
//! only quotes. Use it through the `actum` crate, which documents it.

mod attr;
mod by_hand;
mod expand;
mod model;

use proc_macro2::TokenStream;

/// Declares the function below as an action. See `actum::action` for the arguments.
#[proc_macro_attribute]
pub fn action(
    arguments: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expansion(arguments.into(), item.into()).into()
}

/// The actions of the handlers that are named. See `actum::actions` for what it is for.
#[proc_macro]
pub fn actions(handlers: proc_macro::TokenStream) -> proc_macro::TokenStream {
    by_hand::actions(handlers.into()).into()
}

/// What stands in the place of the annotation and its function.
fn expansion(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut faults = attr::Faults::default();
    let arguments = attr::parse(arguments, &mut faults);
    let declaration = model::declaration(&arguments, &mut faults);
    let function = attr::parse_handler(item.clone(), &mut faults)
        .map(|handler| model::function(&handler, &mut faults));

    // The function is emitted untouched, whatever is wrong: an editor keeps completing in it, and
    // no second error says that it does not exist.
    let mut tokens = item;
    let complete = faults.is_empty();
    tokens.extend(faults.into_compile_errors());
    if let Some(function) = function {
        tokens.extend(match declaration {
            Some(declaration) if complete => expand::registration(&declaration, &function),
            // Nothing is registered, and what is wrong with the types is told in the same build.
            declaration => expand::checks_alone(declaration.as_ref(), &function),
        });
    }
    tokens
}

#[cfg(test)]
mod golden;
