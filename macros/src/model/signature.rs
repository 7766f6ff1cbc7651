//! Rules about the function's signature.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Attribute, FnArg, GenericParam, Meta, PatType, ReturnType, Safety, Signature, Type, Visibility,
};

use crate::attr::{Faults, Handler};

/// A function, as far as its signature is sound.
pub struct Function {
    pub visibility: Visibility,
    pub name: Ident,
    pub is_async: bool,
    pub parameters: Vec<Parameter>,
    /// `None` where it is no type that a handler could return.
    pub output: Option<Type>,
    /// The lints that the function allows or sets off; what stands beside it names it and its types.
    pub allowed_lints: Vec<TokenStream>,
    /// Whether its types can be named beside it: it is no method and not generic.
    pub is_free: bool,
}

impl Function {
    /// What the model fills in.
    pub fn payload(&self) -> Option<&Type> {
        self.parameters
            .iter()
            .find_map(|parameter| match parameter {
                Parameter::Payload(ty) => Some(ty),
                Parameter::Host(_) => None,
            })
    }

    /// What the host gives.
    pub fn hosts(&self) -> Vec<&Type> {
        self.parameters
            .iter()
            .filter_map(|parameter| match parameter {
                Parameter::Host(ty) => Some(ty),
                Parameter::Payload(_) => None,
            })
            .collect()
    }
}

/// One parameter of a handler.
pub enum Parameter {
    /// `&T`: given by the host.
    Host(Type),
    /// `T`: filled in by the model.
    Payload(Type),
}

const RULE: &str = "what the host gives is taken by reference, what the model fills in is the one parameter by value";
const RESULT: &str = "a handler returns `Result<T, ActionError>`";

/// Checks the signature; what is sound of it comes back.
pub fn function(handler: &Handler, faults: &mut Faults) -> Function {
    let signature = &handler.signature;
    attributes(&handler.attributes, faults);
    qualifiers(signature, faults);
    generics(signature, faults);
    Function {
        visibility: handler.visibility.clone(),
        name: signature.ident.clone(),
        is_async: signature.asyncness.is_some(),
        parameters: parameters(signature, faults),
        output: output(signature, faults),
        allowed_lints: handler.attributes.iter().filter_map(allowed).collect(),
        is_free: signature.generics.params.is_empty()
            && signature.receiver().is_none()
            && find(signature.to_token_stream(), &is_self_type).is_none(),
    }
}

fn allowed(attribute: &Attribute) -> Option<TokenStream> {
    match &attribute.meta {
        // Whoever calls it by its name is warned; the kernel does not.
        meta if meta.path().is_ident("deprecated") => Some(quote!(#[allow(deprecated)])),
        Meta::List(list) if list.path.is_ident("allow") || list.path.is_ident("expect") => {
            let lints = &list.tokens;
            // What the function expects need not occur beside it.
            Some(quote!(#[allow(#lints)]))
        }
        _ => None,
    }
}

/// Tells the attributes below the annotation that would make something else of the function.
fn attributes(attributes: &[Attribute], faults: &mut Faults) {
    for attribute in attributes {
        let path = attribute.path();
        let Some(name) = path.segments.last().map(|segment| &segment.ident) else {
            continue;
        };
        if name == "action" {
            faults.push_over(
                attribute,
                "a second `#[action]` on one function; an action has one id, so put this one on a function that calls the first",
            );
        } else if name == "main" || name == "test" {
            let path = path.to_token_stream().to_string().replace(' ', "");
            faults.push_over(
                attribute,
                format_args!(
                    "a handler is called by the kernel, so it cannot be under `#[{path}]` as well; put that on a function that calls this one"
                ),
            );
        }
    }
}

fn qualifiers(signature: &Signature, faults: &mut Faults) {
    if let Some(word) = &signature.constness {
        faults.push_over(word, "a handler cannot be `const`; drop the word");
    }
    match &signature.safety {
        Safety::Default => {}
        word => faults.push_over(
            word,
            "a handler cannot be `unsafe`: nobody reviews its calls; check in its body what it needs",
        ),
    }
    if let Some(abi) = &signature.abi {
        faults.push_over(abi, "a handler cannot be `extern`; drop the word");
    }
    if let Some(variadic) = &signature.variadic {
        faults.push_over(variadic, "a handler cannot be variadic");
    }
}

fn generics(signature: &Signature, faults: &mut Faults) {
    for parameter in &signature.generics.params {
        let (what, remedy) = match parameter {
            GenericParam::Lifetime(_) => ("a lifetime parameter", "write plain `&T`"),
            GenericParam::Type(_) => ("a type parameter", "name the type"),
            GenericParam::Const(_) => ("a const parameter", "write the value"),
        };
        faults.push_over(
            parameter,
            format_args!("an action is one function, so it cannot have {what}; {remedy}"),
        );
    }
    if let (Some(clause), true) = (
        &signature.generics.where_clause,
        signature.generics.params.is_empty(),
    ) {
        faults.push_over(
            clause,
            "a handler has nothing to say in a `where` clause; drop it",
        );
    }
}

fn parameters(signature: &Signature, faults: &mut Faults) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    let mut payload_seen = false;
    for input in &signature.inputs {
        match input {
            FnArg::Receiver(receiver) => faults.push_over(
                receiver,
                format_args!("a handler is a free function and has no `self`; {RULE}"),
            ),
            FnArg::Typed(typed) => {
                parameters.extend(parameter(typed, &mut payload_seen, faults));
            }
        }
    }
    parameters
}

fn parameter(typed: &PatType, payload_seen: &mut bool, faults: &mut Faults) -> Option<Parameter> {
    if let Some(cfg) = typed.attrs.iter().find(|a| a.path().is_ident("cfg")) {
        faults.push_over(
            cfg,
            "a handler has one signature; put the `cfg` on the whole function and write a second one",
        );
        return None;
    }
    let ty = bare(&typed.ty);
    if let Type::Reference(reference) = ty {
        let lifetime = reference.lifetime.as_ref();
        if reference.mutability.is_some() {
            faults.push_over(reference, "the host shares its values between calls, so a handler takes `&T`; put what changes behind a mutex");
            return None;
        }
        if let Some(lifetime) = lifetime.filter(|lifetime| lifetime.ident != "_") {
            // A lifetime that the function declares is told where it is declared.
            if lifetime.ident == "static" {
                faults.push_over(
                    lifetime,
                    "a handler borrows for the length of one call; drop the lifetime",
                );
            }
            return None;
        }
        return host(bare(&reference.elem), faults);
    }
    if !is_nameable(ty, faults) {
        return None;
    }
    if std::mem::replace(payload_seen, true) {
        faults.push_over(ty, format_args!("a second parameter by value; {RULE}: put both into one struct, or take this one as `&T`"));
        return None;
    }
    let unnamed = match ty {
        Type::Tuple(tuple) if !tuple.elems.is_empty() => "a tuple",
        Type::Array(_) => "an array",
        Type::Slice(_) => "a slice",
        Type::TraitObject(_) => "a trait object",
        ty if is_str(ty) => "`str`",
        ty => return is_owned(ty, faults).then(|| Parameter::Payload(ty.clone())),
    };
    faults.push_over(ty, format_args!("{unnamed} cannot be an action's payload: a model fills in fields by their names; make it a struct"));
    None
}

fn host(ty: &Type, faults: &mut Faults) -> Option<Parameter> {
    let instead = match ty {
        Type::TraitObject(_) => "take `&T` of a concrete type that holds the trait object",
        Type::Slice(_) => "take `&T` of a type that holds the list",
        ty if is_str(ty) => {
            "take `&T` of a type that holds the text, or put the text into the payload"
        }
        _ => return is_nameable(ty, faults).then(|| Parameter::Host(ty.clone())),
    };
    faults.push_over(
        ty,
        format_args!("the host's values are found by their own, sized type; {instead}"),
    );
    None
}

fn output(signature: &Signature, faults: &mut Faults) -> Option<Type> {
    let ReturnType::Type(_, output) = &signature.output else {
        faults.push_over(
            &signature.ident,
            format_args!(
                "{RESULT}; write `-> Result<(), ActionError>` where there is nothing to return"
            ),
        );
        return None;
    };
    match bare(output) {
        Type::ImplTrait(inner) => {
            faults.push_over(
                inner,
                format_args!("{RESULT}; write `async fn` instead of returning a future"),
            );
            None
        }
        ty => is_nameable(ty, faults).then(|| ty.clone()),
    }
}

fn is_str(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("str"))
}

/// The type without the parentheses and the invisible brackets around it.
fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        ty => ty,
    }
}

/// Whether the type can be written beside the function.
fn is_nameable(ty: &Type, faults: &mut Faults) -> bool {
    let tokens = ty.to_token_stream();
    let fault = if find(tokens.clone(), &|token| is_word(token, "impl")).is_some() {
        "an action is one function, so it cannot have `impl Trait` in its signature; name the type"
    } else if find(tokens, &is_self_type).is_some() {
        "a handler is a free function, so there is no `Self`; move it out of the `impl` and name the type"
    } else {
        return true;
    };
    faults.push_over(ty, fault);
    false
}

/// Whether the type holds no borrow, as far as it shows one.
fn is_owned(ty: &Type, faults: &mut Faults) -> bool {
    let borrow = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if matches!(p.as_char(), '&' | '\''));
    let is_static = ty.to_token_stream().to_string().contains("'static");
    if is_static || find(ty.to_token_stream(), &borrow).is_none() {
        return true;
    }
    faults.push_over(
        ty,
        "a payload owns what it holds, such as a `String` instead of a `&str`; what the host gives is taken as plain `&T`",
    );
    false
}

fn is_self_type(token: &TokenTree) -> bool {
    is_word(token, "Self")
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

fn find(tokens: TokenStream, wanted: &dyn Fn(&TokenTree) -> bool) -> Option<TokenTree> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Group(group) => find(group.stream(), wanted),
        token => wanted(&token).then_some(token),
    })
}
