//! The implementation.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use super::check::{CheckedRequest, InterruptVariant};
use crate::type_name::type_name;

/// Everything that the derive makes.
pub(super) fn interrupt_request(checked: &CheckedRequest<'_>) -> TokenStream {
    let variants = checked
        .interrupts
        .iter()
        .map(|interrupt| variant(checked, interrupt));
    let kinds = kinds(checked);
    let implementation = implementation(checked);
    let serde = serde(checked);
    quote! {
        const _: () = {
            #(#variants)*
            #kinds
            #implementation
            #serde
        };
    }
}

/// The type that represents a variant in generated code.
fn variant_type(interrupt: &InterruptVariant<'_>) -> Ident {
    format_ident!("__{}", interrupt.ident.unraw())
}

fn variant(checked: &CheckedRequest<'_>, interrupt: &InterruptVariant<'_>) -> TokenStream {
    let request = checked.ident;
    let type_ = variant_type(interrupt);
    let ident = interrupt.ident;
    let payload = interrupt.payload;
    let payload_name = type_name(payload);
    let from = interrupt.alone.then(|| {
        quote! {
            #[automatically_derived]
            impl ::core::convert::From<#payload> for #request {
                fn from(payload: #payload) -> Self {
                    Self::#ident(payload)
                }
            }
        }
    });
    quote! {
        struct #type_;

        #[automatically_derived]
        impl ::interrupt_router::__private::Variant for #type_ {
            type Interrupt = #request;
            type Payload = #payload;

            const PAYLOAD: &'static str = #payload_name;

            fn wrap(payload: Self::Payload) -> Self::Interrupt {
                #request::#ident(payload)
            }
        }

        #from
    }
}

/// The index of each variant's kind, and the checks that each has one and that no kind is left.
fn kinds(checked: &CheckedRequest<'_>) -> TokenStream {
    let request = checked.ident;
    let kind = &checked.kind;
    let kind_name = type_name(kind);
    let request_name = request.to_string();
    let count = checked.interrupts.len();
    let names: Vec<String> = checked
        .interrupts
        .iter()
        .map(|interrupt| interrupt.ident.unraw().to_string())
        .collect();
    let checks = checked
        .interrupts
        .iter()
        .zip(&names)
        .map(|(interrupt, name)| {
            quote_spanned! {interrupt.ident.span()=>
                const _: () = ::interrupt_router::__private::assert_kind::<#request>(#name, #kind_name);
            }
        });
    let check_all = quote_spanned! {kind.span()=>
        const _: () = ::interrupt_router::__private::assert_kinds::<#request>(#request_name, &__PLACES);
    };
    quote! {
        const __PLACES: [usize; #count] = [
            #(::interrupt_router::__private::kind_position::<#request>(#names)),*
        ];
        #(#checks)*
        #check_all
    }
}

fn implementation(checked: &CheckedRequest<'_>) -> TokenStream {
    let request = checked.ident;
    let kind = &checked.kind;
    let interrupts = &checked.interrupts;
    let idents: Vec<_> = interrupts.iter().map(|interrupt| interrupt.ident).collect();
    let types: Vec<_> = interrupts.iter().map(variant_type).collect();
    let places: Vec<_> = (0..interrupts.len()).collect();
    let alone = interrupts
        .iter()
        .filter(|interrupt| interrupt.alone)
        .map(variant_type);
    quote! {
        #[automatically_derived]
        impl ::interrupt_router::__private::MadeByDerive for #request {}

        #[automatically_derived]
        impl ::interrupt_router::SealedInterrupt for #request {
            type Kind = #kind;

            fn kind(&self) -> Self::Kind {
                let variant: usize = match self {
                    #(Self::#idents(_) => #places,)*
                };
                ::interrupt_router::__private::kind_at::<Self>(__PLACES[variant])
            }

            fn details(&self) -> ::interrupt_router::InterruptDetails {
                match self {
                    #(Self::#idents(payload) =>
                        ::interrupt_router::__private::payload_details::<#types>(payload),)*
                }
            }

            fn payload(&self) -> ::core::result::Result<
                ::interrupt_router::__private::serde_json::Value,
                ::interrupt_router::__private::serde_json::Error,
            > {
                match self {
                    #(Self::#idents(payload) =>
                        ::interrupt_router::__private::payload_value::<#types>(payload),)*
                }
            }

            fn __deserialize_payload<'de, D: ::interrupt_router::__private::serde::Deserializer<'de>>(
                kind_index: usize,
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                match __PLACES.iter().position(|place| *place == kind_index) {
                    #(::core::option::Option::Some(#places) =>
                        ::interrupt_router::__private::deserialize_payload::<#types, D>(deserializer),)*
                    _ => ::core::result::Result::Err(
                        ::interrupt_router::__private::no_such_kind::<Self, D::Error>(kind_index)
                    ),
                }
            }

            fn __payloads() -> ::std::vec::Vec<(
                ::core::any::TypeId,
                &'static str,
                fn(::std::boxed::Box<dyn ::core::any::Any + ::core::marker::Send>)
                    -> ::core::option::Option<Self>,
            )> {
                ::std::vec![#(::interrupt_router::__private::payload_conversion::<#alone>()),*]
            }
        }
    }
}

fn serde(checked: &CheckedRequest<'_>) -> TokenStream {
    let request = checked.ident;
    let idents = checked.interrupts.iter().map(|interrupt| interrupt.ident);
    let types = checked.interrupts.iter().map(variant_type);
    quote! {
        #[automatically_derived]
        impl ::interrupt_router::__private::serde::Serialize for #request {
            fn serialize<S: ::interrupt_router::__private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                let kind = ::interrupt_router::SealedInterrupt::kind(self);
                match self {
                    #(Self::#idents(payload) =>
                        ::interrupt_router::__private::serialize_interrupt::<#types, S>(
                            kind, payload, serializer,
                        ),)*
                }
            }
        }

        #[automatically_derived]
        impl<'de> ::interrupt_router::__private::serde::Deserialize<'de> for #request {
            fn deserialize<D: ::interrupt_router::__private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                ::interrupt_router::__private::deserialize_interrupt(deserializer)
            }
        }
    }
}
