//! `actions![path::to::handler, ...]`: registration by hand.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Path, PathArguments, Token};

use crate::attr::Faults;
use crate::expand;

pub fn actions(handlers: TokenStream) -> TokenStream {
    let mut faults = Faults::default();
    let paths = Punctuated::<Path, Token![,]>::parse_terminated
        .parse2(handlers)
        .unwrap_or_else(|error| {
            faults.push(
                error.span(),
                "`actions!` takes the paths of annotated functions: `actions![mail::read, mail::send]`",
            );
            Punctuated::new()
        });
    let constants: Vec<Path> = paths
        .into_iter()
        .map(|mut path| {
            if let Some(last) = path.segments.last_mut() {
                if !matches!(last.arguments, PathArguments::None) {
                    faults.push_over(&last.arguments, "an action is one function; drop this");
                    last.arguments = PathArguments::None;
                }
                last.ident = expand::constant(&last.ident);
            }
            path
        })
        .collect();
    let faults = faults.into_compile_errors();
    quote!({ #faults [#(&#constants),*] })
}
