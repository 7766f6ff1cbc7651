//! The syntax of the annotation and of the function under it, without any rule about meaning.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{
    Attribute, Expr, ExprLit, Ident, Lit, LitStr, Signature, Token, Visibility, parenthesized,
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

/// The annotation: a list of arguments.
pub struct Syntax {
    pub arguments: Vec<Argument>,
}

/// `name`, `name = value` or `name(inner, ...)`.
pub struct Argument {
    pub name: Ident,
    pub value: ArgumentValue,
}

pub enum ArgumentValue {
    Flag,
    Text(LitStr),
    Texts(Vec<LitStr>, Span),
    Nested(Vec<Argument>),
    /// Something else, whose fault is already told or is told by whoever reads it.
    Other(Span),
}

/// Parses a list of arguments; a malformed one is skipped to the next comma.
pub fn parse(tokens: TokenStream, faults: &mut Faults) -> Syntax {
    let parser = |input: ParseStream| Ok(arguments(input, faults));
    match parser.parse2(tokens) {
        Ok(arguments) => Syntax { arguments },
        // The parser takes everything and never fails; were it to, nothing was said.
        Err(_) => Syntax {
            arguments: Vec::new(),
        },
    }
}

fn arguments(input: ParseStream, faults: &mut Faults) -> Vec<Argument> {
    let mut found = Vec::new();
    while !input.is_empty() {
        match argument(input, faults) {
            Ok(argument) => found.push(argument),
            Err(error) => {
                faults.0.push(error);
                skip_to_comma(input);
            }
        }
        if !input.is_empty() && input.parse::<Token![,]>().is_err() {
            faults.push(
                input.span(),
                "expected `,` between the arguments of `#[action]`",
            );
            skip_to_comma(input);
            let _ = input.parse::<Token![,]>();
        }
    }
    found
}

fn argument(input: ParseStream, faults: &mut Faults) -> syn::Result<Argument> {
    if input.peek(Lit) {
        return Err(input.error("expected `name = ...`; did you mean `id = \"...\"`?"));
    }
    let name = input.call(Ident::parse_any)?;
    let value = if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        if input.is_empty() || input.peek(Token![,]) {
            return Err(syn::Error::new(
                name.span(),
                format!("`{name} =` lacks its value"),
            ));
        }
        value(input.parse()?)
    } else if input.peek(syn::token::Paren) {
        let inner;
        parenthesized!(inner in input);
        ArgumentValue::Nested(arguments(&inner, faults))
    } else {
        ArgumentValue::Flag
    };
    Ok(Argument { name, value })
}

fn value(expr: Expr) -> ArgumentValue {
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
                .map(|element| match element {
                    Expr::Lit(ExprLit {
                        lit: Lit::Str(text),
                        ..
                    }) => Some(text),
                    _ => None,
                })
                .collect();
            texts.map_or(ArgumentValue::Other(span), |texts| {
                ArgumentValue::Texts(texts, span)
            })
        }
        _ => ArgumentValue::Other(span),
    }
}

fn skip_to_comma(input: ParseStream) {
    while !input.is_empty() && !input.peek(Token![,]) {
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}

/// The function: its attributes and signature. The body stays what it is, parsable or not.
pub struct Handler {
    pub attributes: Vec<Attribute>,
    pub signature: Signature,
}

impl Parse for Handler {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        let signature = input.parse()?;
        let _body: TokenStream = input.parse()?;
        Ok(Self {
            attributes,
            signature,
        })
    }
}

/// Parses what stands under the annotation.
pub fn parse_handler(item: TokenStream, faults: &mut Faults) -> Option<Handler> {
    let first = item
        .clone()
        .into_iter()
        .next()
        .map_or_else(Span::call_site, |token| token.span());
    match syn::parse2(item.clone()) {
        Ok(handler) => Some(handler),
        Err(error) if is_a_function(item) => {
            faults.0.push(error);
            None
        }
        Err(_) => {
            faults.push(
                first,
                "`#[action]` goes on a function: `async fn name(...) -> Result<T, ActionError>`",
            );
            None
        }
    }
}

fn is_a_function(item: TokenStream) -> bool {
    item.into_iter()
        .any(|token| matches!(token, TokenTree::Ident(word) if word == "fn"))
}
