//! Quoting only. The logic lives in ordinary functions of `actum::__private`.
//!
//! What the user wrote keeps its place, so that the compiler's errors about it stand there. What is
//! added has the hygiene of the macro: no name of the function's surroundings, or of the function
//! itself, can get in between.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{LitStr, Path, Type};

use crate::model::{Asks, Class, Declaration, Function, Parameter};

/// The hidden registration that stands beside the untouched function.
pub fn registration(declaration: &Declaration, function: &Function) -> TokenStream {
    let Some(output) = &function.output else {
        return TokenStream::new();
    };
    let actum = private(declaration.actum.as_ref(), Span::call_site());
    let Declaration {
        id,
        description,
        approval_required,
        idempotency_key_required,
        non_delegable,
        read_only,
        destructive,
        idempotent,
        open_world,
        prompt,
        ..
    } = declaration;
    let title = option(declaration.title.as_ref());
    let selection_token = option(declaration.selection_token.as_ref());
    let egress_class = option(declaration.egress_class.as_ref());
    let channels = declaration.egress_channels.as_ref();
    let egress_channels = option(channels.map(|list| quote!(&[#(#list),*])));
    let resource = option(declaration.resource.as_ref());
    let asks = asks(&declaration.asks, &actum);
    let redact = declaration
        .redact
        .iter()
        .map(|(path, marker)| quote!((#path, #marker)));
    let parameters = match function.payload() {
        Some(ty) => quote!(#actum::parameters::<#ty>),
        None => quote!(#actum::no_parameters),
    };
    let hosts = function.hosts();
    let allowed_lints = &function.allowed_lints;
    let checks = checks(declaration.actum.as_ref(), function);
    let prepare = prepare(declaration.actum.as_ref(), function, output);
    let check = declaration.check.as_ref();
    let check = option(check.map(|path| check_call(declaration.actum.as_ref(), function, path)));

    let visibility = &function.visibility;
    let constant = constant(&function.name);
    let only_one = only_one(id);

    // INVARIANT: one constant holds the checks and all that relies on them. The compiler then tells
    // a type's fault once, in the words of the check. All items have names: under an `impl`, where no
    // handler can be, what is told is that the function is not found, and nothing else.
    quote! {
        #(#allowed_lints)*
        #[doc(hidden)]
        #[allow(non_upper_case_globals)]
        #visibility const #constant: #actum::Action = {
            const __ACTION: #actum::Action = {
                ::core::assert!(
                    ::core::matches!(#actum::check_action_id(#id), ::core::result::Result::Ok(())),
                    "the kernel takes no such action id"
                );
                #checks
                #actum::Action {
                    id: #id,
                    description: #description,
                    title: #title,
                    approval_required: #approval_required,
                    idempotency_key_required: #idempotency_key_required,
                    non_delegable: #non_delegable,
                    selection_token: #selection_token,
                    egress_channels: #egress_channels,
                    egress_class: #egress_class,
                    asks: #asks,
                    resource: #resource,
                    prompt: #prompt,
                    redact: &[#(#redact),*],
                    hints: #actum::Hints {
                        read_only: #read_only,
                        destructive: #destructive,
                        idempotent: #idempotent,
                        open_world: #open_world,
                    },
                    at: #actum::Place {
                        file: ::core::file!(),
                        line: ::core::line!(),
                        column: ::core::column!(),
                        module: ::core::module_path!(),
                    },
                    parameters: #parameters,
                    output: #actum::output_schema::<#output>,
                    needs: &[#(#actum::HostType::of::<#hosts>),*],
                    prepare: #prepare,
                    check: #check,
                }
            };
            #actum::inventory::submit! { __ACTION }
            __ACTION
        };
        #only_one
    }
}

/// What is asked of whoever calls.
fn asks(asks: &Asks, actum: &TokenStream) -> TokenStream {
    if asks.is_nothing() {
        return quote!(#actum::Asks::NOTHING);
    }
    let class = option(asks.class.map(|class| match class {
        Class::ControlPlane => quote!(#actum::Class::ControlPlane),
        Class::Always => quote!(#actum::Class::Always),
        Class::Optional => quote!(#actum::Class::Optional),
    }));
    let Asks {
        claims,
        roles,
        modes,
        reads_secrets,
        ..
    } = asks;
    let hatch = asks.escape_hatch.as_ref();
    let escape_hatch = option(hatch.map(|(method, path)| quote!((#method, #path))));
    let interaction = option(asks.interaction.as_ref());
    quote! {
        #actum::Asks {
            class: #class,
            claims: &[#(#claims),*],
            roles: &[#(#roles),*],
            modes: &[#(#modes),*],
            reads_secrets: #reads_secrets,
            escape_hatch: #escape_hatch,
            interaction: #interaction,
        }
    }
}

/// The name of the constant that holds a handler's action, which `actions!` spells as well.
pub fn constant(function: &Ident) -> Ident {
    let name = format!("__action_{}", function.unraw());
    Ident::new(&name, function.span().resolved_at(Span::call_site()))
}

/// An item that is there twice when an id is: the compiler tells it where it can, within one module,
/// at the ids. INVARIANT: two ids never give one name, as no id has an upper-case letter.
fn only_one(id: &LitStr) -> TokenStream {
    let name = id.value().replace('.', "_DOT_").replace(':', "_COLON_");
    let here = at(id.span());
    let name = Ident::new(&format!("__ACTION_ID_{name}"), here);
    quote_spanned! {here=>
        #[doc(hidden)]
        #[allow(dead_code, non_upper_case_globals)]
        const #name: () = ();
    }
}

/// The checks of a function that is not registered, because something else is wrong.
pub fn checks_alone(declaration: Option<&Declaration>, function: &Function) -> TokenStream {
    if !function.is_free {
        return TokenStream::new();
    }
    let allowed_lints = &function.allowed_lints;
    let checks = checks(declaration.and_then(|d| d.actum.as_ref()), function);
    quote! {
        #(#allowed_lints)*
        const _: () = { #checks };
    }
}

/// Calls that compile only where each type is what it must be.
fn checks(crate_path: Option<&Path>, function: &Function) -> TokenStream {
    let payload = function.payload().map(|ty| {
        let here = at(ty.span());
        let actum = private(crate_path, here);
        quote_spanned! {here=>
            #actum::payload_can_be_read::<#ty>();
            #actum::payload_can_be_described::<#ty>();
            #actum::payload_can_be_sent::<#ty>();
            {
                use #actum::PerhapsAnObject as _;
                #actum::payload_has_fields::<#ty, _>(#actum::Shape::<#ty>::KIND);
            }
        }
    });
    let hosts = function.hosts().into_iter().map(|ty| {
        let here = at(ty.span());
        let actum = private(crate_path, here);
        quote_spanned!(here=> #actum::resource_can_be_shared::<#ty>();)
    });
    let output = function.output.as_ref().map(|ty| {
        let here = at(ty.span());
        let actum = private(crate_path, here);
        quote_spanned!(here=> #actum::output_can_be_told::<#ty>();)
    });
    quote!(#payload #(#hosts)* #output)
}

/// The handler behind a function pointer.
fn prepare(crate_path: Option<&Path>, function: &Function, output: &Type) -> TokenStream {
    let here = at(function.name.span());
    let actum = private(crate_path, here);
    let mut name = function.name.clone();
    name.set_span(here);
    // Variables have the macro's own hygiene: a handler may be called `payload`.
    let own = |name| Ident::new(name, Span::mixed_site());
    let (context, arguments, payload) = (own("context"), own("arguments"), own("payload"));
    let given = function.parameters.iter().map(|parameter| match parameter {
        Parameter::Host(ty) => quote_spanned!(here=> #actum::host::<#ty>(&#context)?),
        Parameter::Payload(_) => quote_spanned!(here=> #payload),
    });
    let wait = function.is_async.then(|| quote_spanned!(here=> .await));
    let future = quote_spanned! {here=>
        #actum::handler_future(async move {
            #actum::output::<#output>(#name(#(#given),*) #wait)
        })
    };
    let context = match function.hosts().as_slice() {
        [] => quote!(_),
        _ => quote!(#context),
    };
    match function.payload() {
        Some(ty) => quote_spanned! {here=>
            |#arguments| #actum::prepare::<#ty>(#arguments, |#context, #payload| #future)
        },
        None => quote_spanned!(here=> |_| #actum::prepare_without(|#context| #future)),
    }
}

/// The handler's own check behind a function pointer: it takes what the handler takes, the payload by
/// reference.
fn check_call(crate_path: Option<&Path>, function: &Function, path: &Path) -> TokenStream {
    let here = at(path.span());
    let actum = private(crate_path, here);
    let own = |name| Ident::new(name, Span::mixed_site());
    let (context, arguments, payload) = (own("context"), own("arguments"), own("payload"));
    let given = function.parameters.iter().map(|parameter| match parameter {
        Parameter::Host(ty) => quote_spanned!(here=> #actum::host::<#ty>(&#context)?),
        Parameter::Payload(_) => quote_spanned!(here=> &#payload),
    });
    let future = quote_spanned! {here=>
        #actum::check_future(async move { #path(#(#given),*).await })
    };
    let context = match function.hosts().as_slice() {
        [] => quote!(_),
        _ => quote!(#context),
    };
    match function.payload() {
        Some(ty) => quote_spanned! {here=>
            |#arguments| #actum::prepare_check::<#ty>(#arguments, |#context, #payload| #future)
        },
        None => quote_spanned!(here=> |_| #actum::prepare_check_without(|#context| #future)),
    }
}

/// A place in the user's code, with the hygiene of the macro: lints pass over what stands there.
fn at(place: Span) -> Span {
    Span::call_site().located_at(place)
}

/// The module that an expansion calls.
fn private(crate_path: Option<&Path>, here: Span) -> TokenStream {
    match crate_path {
        Some(path) => quote_spanned!(here=> #path::__private),
        None => quote_spanned!(here=> ::actum::__private),
    }
}

fn option(value: Option<impl quote::ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
