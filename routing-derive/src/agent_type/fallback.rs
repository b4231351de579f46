//! The errors, and a stub, so that code that uses the enumeration is not refused as well.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Fields};

use super::check::{CheckedAgent, CheckedEnumeration};
use super::expand;

/// The errors with a stub of the implementation.
///
/// A stub is only possible if the enumeration has variants without fields, of which it can be made.
pub(super) fn agent_type(input: &DeriveInput, errors: &syn::Error) -> TokenStream {
    let errors = errors.to_compile_error();
    let stub = stub(input);
    quote! {
        #errors
        #stub
    }
}

fn stub(input: &DeriveInput) -> Option<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return None;
    };
    let possible = input.generics.params.is_empty()
        && !data.variants.is_empty()
        && data
            .variants
            .iter()
            .all(|variant| matches!(variant.fields, Fields::Unit));
    possible.then(|| {
        expand::agent_type(&CheckedEnumeration {
            ident: &input.ident,
            route: None,
            description: String::new(),
            agents: data
                .variants
                .iter()
                .map(|variant| CheckedAgent {
                    ident: &variant.ident,
                    name: variant.ident.to_string(),
                    origin: None,
                })
                .collect(),
        })
    })
}
