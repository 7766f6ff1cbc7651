//! The syntax of the annotation and of the function under it, without any rule about meaning.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{
    Attribute, Expr, ExprLit, Ident, Lit, LitStr, Path, Signature, Token, Visibility, token,
};

/// Everything that is wrong with one annotation.
#[derive(Default)]
pub struct Faults(Vec<syn::Error>);

impl Faults {
    pub fn push(&mut self, span: Span, message: impl std::fmt::Display) {
        self.0.push(syn::Error::new(span, message));
    }

    pub fn push_over(&mut self, tokens: impl quote::ToTokens, message: impl std::fmt::Display) {
        self.0.push(syn::Error::new_spanned(tokens, message));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn into_compile_errors(self) -> TokenStream {
        self.0
            .into_iter()
            .map(|error| error.into_compile_error())
            .collect()
    }
}

/// `name`, `name = value` or `name(...)`.
pub struct Argument {
    pub name: Ident,
    pub value: ArgumentValue,
}

pub enum ArgumentValue {
    Flag,
    Text(LitStr),
    Texts(Vec<LitStr>, Span),
    Path(Path),
    /// What stands in the parentheses; [`parse`] takes it apart.
    List(TokenStream),
    /// A call of a macro, which nobody has expanded.
    Macro(Span),
    /// A value of another form. Whoever reads it tells what it should be.
    Other(Span),
    /// Not even a value; that is told already.
    Broken,
}

/// Parses a list of arguments. A malformed one is told, and its neighbours are read all the same.
pub fn parse(tokens: TokenStream, faults: &mut Faults) -> Vec<Argument> {
    let parser = |input: ParseStream| Ok(list(input, faults, argument));
    // The parser takes every token and never fails.
    parser.parse2(tokens).unwrap_or_default()
}

/// Parses `"...", "..."`. `form` is told at what is none of it, and its neighbours are read all the
/// same.
pub fn texts(tokens: TokenStream, form: &str, faults: &mut Faults) -> Vec<LitStr> {
    elements(tokens, form, faults, |input| input.parse())
}

/// Parses `"..." = "...", "..." = "..."`, in the same way.
pub fn pairs(tokens: TokenStream, form: &str, faults: &mut Faults) -> Vec<(LitStr, LitStr)> {
    elements(tokens, form, faults, |input| {
        let left = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok((left, input.parse()?))
    })
}

fn elements<T>(
    tokens: TokenStream,
    form: &str,
    faults: &mut Faults,
    element: fn(ParseStream) -> syn::Result<T>,
) -> Vec<T> {
    let whole = |input: ParseStream| {
        let at = input.span();
        element(input)
            .ok()
            .filter(|_| at_separator(input))
            .ok_or_else(|| syn::Error::new(at, form))
    };
    let parser = |input: ParseStream| Ok(list(input, faults, |input, _| whole(input)));
    // The parser takes every token and never fails.
    parser.parse2(tokens).unwrap_or_default()
}

fn list<T>(
    input: ParseStream,
    faults: &mut Faults,
    mut element: impl FnMut(ParseStream, &mut Faults) -> syn::Result<T>,
) -> Vec<T> {
    let mut found = Vec::new();
    while !input.is_empty() {
        match element(input, faults) {
            Ok(element) => found.push(element),
            Err(error) => {
                faults.0.push(error);
                skip_to_separator(input);
            }
        }
        if !input.is_empty() && input.parse::<Token![,]>().is_err() {
            faults.push(input.span(), "expected `,` between two arguments");
            // One meant for a comma is told as that, and as nothing else.
            let _ = input.parse::<Token![;]>();
        }
    }
    found
}

fn argument(input: ParseStream, faults: &mut Faults) -> syn::Result<Argument> {
    if input.peek(Lit) {
        return Err(input.error("a value stands behind the name of its argument: `name = \"...\"`"));
    }
    let name = input.call(Ident::parse_any).map_err(|error| {
        syn::Error::new(
            error.span(),
            "expected an argument: `name`, `name = \"...\"` or `name(...)`",
        )
    })?;
    let value = match value_of(&name, input) {
        Ok(value) => value,
        Err(error) => {
            faults.0.push(error);
            skip_to_separator(input);
            ArgumentValue::Broken
        }
    };
    Ok(Argument { name, value })
}

fn value_of(name: &Ident, input: ParseStream) -> syn::Result<ArgumentValue> {
    if at_separator(input) {
        return Ok(ArgumentValue::Flag);
    }
    if input.peek(token::Paren) {
        let inner;
        syn::parenthesized!(inner in input);
        return Ok(ArgumentValue::List(inner.parse()?));
    }
    if !input.peek(Token![=]) || input.peek(Token![==]) {
        return Err(input.error(format_args!(
            "expected `,`, or `=` and a value, after `{name}`"
        )));
    }
    input.parse::<Token![=]>()?;
    if at_separator(input) {
        return Err(syn::Error::new(
            name.span(),
            format_args!("`{name} =` lacks its value"),
        ));
    }
    input.parse().map(value)
}

fn value(expr: Expr) -> ArgumentValue {
    if let Expr::Group(group) = expr {
        // The invisible brackets around what a macro by example put in.
        return value(*group.expr);
    }
    let span = syn::spanned::Spanned::span(&expr);
    match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => ArgumentValue::Text(text),
        Expr::Array(array) => {
            let texts: Option<Vec<LitStr>> = array
                .elems
                .into_iter()
                .map(|element| match value(element) {
                    ArgumentValue::Text(text) => Some(text),
                    _ => None,
                })
                .collect();
            texts.map_or(ArgumentValue::Other(span), |texts| {
                ArgumentValue::Texts(texts, span)
            })
        }
        Expr::Path(path) if path.qself.is_none() => ArgumentValue::Path(path.path),
        Expr::Macro(_) => ArgumentValue::Macro(span),
        _ => ArgumentValue::Other(span),
    }
}

fn at_separator(input: ParseStream) -> bool {
    input.is_empty() || input.peek(Token![,]) || input.peek(Token![;])
}

fn skip_to_separator(input: ParseStream) {
    while !at_separator(input) {
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}

/// The function: its attributes, visibility and signature. The body stays what it is, parsable or not.
pub struct Handler {
    pub attributes: Vec<Attribute>,
    pub visibility: Visibility,
    pub signature: Signature,
}

impl Parse for Handler {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature = input.parse()?;
        if !input.peek(token::Brace) {
            return Err(input.error("a handler has a body: `#[action]` goes where the code is"));
        }
        let _body: TokenStream = input.parse()?;
        Ok(Self {
            attributes,
            visibility,
            signature,
        })
    }
}

/// Parses what stands under the annotation.
pub fn parse_handler(item: TokenStream, faults: &mut Faults) -> Option<Handler> {
    match syn::parse2(item.clone()) {
        Ok(handler) => Some(handler),
        Err(error) if is_a_function(item.clone()) => {
            faults.0.push(error);
            None
        }
        Err(_) => {
            faults.push(
                first_after_attributes(item),
                "`#[action]` goes on a function: `async fn name(...) -> Result<T, ActionError>`",
            );
            None
        }
    }
}

/// Whether `fn name` stands outside of all brackets.
fn is_a_function(item: TokenStream) -> bool {
    let mut after_fn = false;
    item.into_iter().any(|token| {
        let TokenTree::Ident(word) = token else {
            after_fn = false;
            return false;
        };
        std::mem::replace(&mut after_fn, word == "fn")
    })
}

fn first_after_attributes(item: TokenStream) -> Span {
    let rest = |input: ParseStream| {
        input.call(Attribute::parse_outer)?;
        let span = input.span();
        input.parse::<TokenStream>().map(|_| span)
    };
    rest.parse2(item).unwrap_or_else(|_| Span::call_site())
}
