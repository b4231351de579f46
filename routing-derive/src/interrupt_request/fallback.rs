//! The errors, and a stub, so that code that uses the enumeration is not refused as well.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Ident, Path};

use crate::attr::{Options, ValueForm};
use crate::errors::Errors;

/// The errors with a stub of the implementation.
///
/// A stub is only possible if the kinds are known.
pub(super) fn interrupt_request(input: &DeriveInput, errors: &syn::Error) -> TokenStream {
    let errors = errors.to_compile_error();
    let possible = input.generics.params.is_empty() && !matches!(input.data, Data::Union(_));
    let stub = kind(&input.attrs)
        .filter(|_| possible)
        .map(|kind| stub(&input.ident, &kind));
    quote! {
        #errors
        #stub
    }
}

/// The kinds, if they can be read; the errors of reading them have been reported.
fn kind(attributes: &[Attribute]) -> Option<Path> {
    let options = Options::read(
        attributes,
        "interrupt",
        &[("kind", ValueForm::Path)],
        &mut Errors::default(),
    );
    options.path("kind").cloned()
}

fn stub(request: &Ident, kind: &Path) -> TokenStream {
    quote! {
        const _: () = {
            #[automatically_derived]
            impl ::interrupt_router::__private::MadeByDerive for #request {}

            #[automatically_derived]
            impl ::interrupt_router::SealedInterrupt for #request {
                type Kind = #kind;

                fn kind(&self) -> Self::Kind {
                    loop {}
                }

                fn details(&self) -> ::interrupt_router::InterruptDetails {
                    loop {}
                }

                fn payload(&self) -> ::core::result::Result<
                    ::interrupt_router::__private::serde_json::Value,
                    ::interrupt_router::__private::serde_json::Error,
                > {
                    loop {}
                }

                fn __deserialize_payload<'de, D: ::interrupt_router::__private::serde::Deserializer<'de>>(
                    _kind_index: usize,
                    _deserializer: D,
                ) -> ::core::result::Result<Self, D::Error> {
                    loop {}
                }

                fn __payloads() -> ::std::vec::Vec<(
                    ::core::any::TypeId,
                    &'static str,
                    fn(::std::boxed::Box<dyn ::core::any::Any + ::core::marker::Send>)
                        -> ::core::option::Option<Self>,
                )> {
                    loop {}
                }
            }

            #[automatically_derived]
            impl ::interrupt_router::__private::serde::Serialize for #request {
                fn serialize<S: ::interrupt_router::__private::serde::Serializer>(
                    &self,
                    _serializer: S,
                ) -> ::core::result::Result<S::Ok, S::Error> {
                    loop {}
                }
            }

            #[automatically_derived]
            impl<'de> ::interrupt_router::__private::serde::Deserialize<'de> for #request {
                fn deserialize<D: ::interrupt_router::__private::serde::Deserializer<'de>>(
                    _deserializer: D,
                ) -> ::core::result::Result<Self, D::Error> {
                    loop {}
                }
            }
        };
    }
}
