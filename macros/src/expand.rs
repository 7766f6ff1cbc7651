//! Quoting only. The logic lives in ordinary functions of `actum::__private`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::model::{Model, Parameter};

/// The hidden registration that stands beside the untouched function.
pub fn registration(model: &Model) -> TokenStream {
    let Model {
        cfgs,
        function,
        output,
        id,
        description,
        ..
    } = model;
    let Model {
        approval_required,
        non_delegable,
        read_only,
        destructive,
        idempotent,
        open_world,
        ..
    } = model;
    let title = option(model.title.as_ref());
    let selection_token = option(model.selection_token.as_ref());
    let egress_class = option(model.egress_class.as_ref());
    let egress_channels = option(
        model
            .egress_channels
            .as_ref()
            .map(|list| quote!(&[#(#list),*])),
    );

    let payload = model
        .parameters
        .iter()
        .find_map(|parameter| match parameter {
            Parameter::Payload(ty) => Some(ty),
            Parameter::Host(_) => None,
        });
    let hosts: Vec<_> = model
        .parameters
        .iter()
        .filter_map(|parameter| match parameter {
            Parameter::Host(ty) => Some(ty),
            Parameter::Payload(_) => None,
        })
        .collect();

    let payload_checks = payload.map(|ty| {
        quote_spanned! {ty.span()=>
            const _: () = ::actum::__private::payload_can_be_read::<#ty>();
            const _: () = ::actum::__private::payload_can_be_described::<#ty>();
        }
    });
    let host_checks = hosts.iter().map(|ty| {
        quote_spanned! {ty.span()=>
            const _: () = ::actum::__private::resource_can_be_shared::<#ty>();
        }
    });
    let output_check = quote_spanned! {output.span()=>
        const _: () = ::actum::__private::is_an_output::<#output>();
    };

    let schema = match payload {
        Some(ty) => quote!(::actum::__private::parameters::<#ty>),
        None => quote!(::actum::__private::no_parameters),
    };
    let read_payload = match payload {
        Some(ty) => quote!(let payload: #ty = ::actum::__private::payload(arguments)?;),
        None => quote!(let _ = arguments;),
    };
    let given = model.parameters.iter().map(|parameter| match parameter {
        Parameter::Host(ty) => quote!(::actum::__private::host::<#ty>(&context)?),
        Parameter::Payload(_) => quote!(payload),
    });
    let wait = model.is_async.then(|| quote!(.await));

    quote! {
        #(#cfgs)*
        const _: () = {
            const _: () = ::core::assert!(
                ::core::matches!(::actum::__private::check_action_id(#id), ::core::result::Result::Ok(())),
                "not an action id"
            );
            #payload_checks
            #(#host_checks)*
            #output_check

            fn run(
                context: ::actum::__private::Context,
                arguments: ::actum::__private::Json,
            ) -> ::actum::__private::HandlerFuture {
                ::std::boxed::Box::pin(async move {
                    #read_payload
                    ::actum::__private::output::<#output>(#function(#(#given),*) #wait)
                })
            }

            ::actum::__private::inventory::submit! {
                ::actum::__private::Action {
                    id: #id,
                    description: #description,
                    title: #title,
                    approval_required: #approval_required,
                    non_delegable: #non_delegable,
                    selection_token: #selection_token,
                    egress_channels: #egress_channels,
                    egress_class: #egress_class,
                    hints: ::actum::__private::Hints {
                        read_only: #read_only,
                        destructive: #destructive,
                        idempotent: #idempotent,
                        open_world: #open_world,
                    },
                    at: ::actum::__private::Place {
                        file: ::core::file!(),
                        line: ::core::line!(),
                        column: ::core::column!(),
                        module: ::core::module_path!(),
                    },
                    parameters: #schema,
                    output: ::actum::__private::output_schema::<#output>,
                    needs: &[#(::actum::__private::HostType::of::<#hosts>),*],
                    run,
                }
            }
        };
    }
}

fn option(value: Option<impl quote::ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
