//! `#[action]`: one annotation, from which id, description, flags, schemas, handler and
//! registration of an action all come.
//!
//! Built like a small compiler: `attr` knows the syntax, `model` knows every rule, `expand`
//! only quotes. Use it through the `actum` crate, which documents it.

mod attr;
mod expand;
mod model;

use proc_macro::TokenStream;

/// Declares the function below as an action. See `actum::action` for the arguments.
#[proc_macro_attribute]
pub fn action(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    let mut faults = attr::Faults::default();
    let syntax = attr::parse(arguments.into(), &mut faults);
    let handler = attr::parse_handler(item.clone(), &mut faults);
    let expansion = handler
        .and_then(|handler| model::check(&syntax, &handler, &mut faults))
        .filter(|_| faults.is_empty())
        .map(|model| expand::registration(&model));
    // The function is emitted untouched, whatever is wrong: an editor keeps completing in it, and
    // no second error says that it does not exist.
    let mut tokens = item;
    tokens.extend(faults.into_compile_errors());
    tokens.extend(expansion);
    tokens.into()
}
