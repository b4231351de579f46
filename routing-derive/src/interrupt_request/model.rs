//! The input: an enumeration of payloads, and whose interrupts they are.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Data, DeriveInput, Path, Variant};

use crate::attr::{self, CRATE, Known, Options, ValueForm};
use crate::errors::Errors;

const OPTIONS: &[Known] = &[("kind", ValueForm::Path), CRATE];

/// A sealed interrupt request as it was written.
#[derive(Debug)]
pub(super) struct RequestModel<'a> {
    pub(super) input: &'a DeriveInput,
    pub(super) kind: Option<Path>,
    pub(super) variants: Vec<&'a Variant>,
    /// What is wrong with the options.
    pub(super) errors: Option<syn::Error>,
}

impl<'a> RequestModel<'a> {
    /// Reads the enumeration and its options.
    pub(super) fn parse(input: &'a DeriveInput) -> syn::Result<Self> {
        let data = match &input.data {
            Data::Enum(data) => data,
            Data::Struct(data) => return Err(not_an_enum(data.struct_token.to_token_stream())),
            Data::Union(data) => return Err(not_an_enum(data.union_token.to_token_stream())),
        };
        let mut errors = Errors::default();
        let options = Options::read(&input.attrs, "interrupt", OPTIONS, &mut errors);
        let variants = data.variants.iter().map(|variant| &variant.attrs);
        for attributes in std::iter::once(&input.attrs).chain(variants) {
            attr::refuse_foreign(
                attributes,
                "the derive itself writes the reader and the schema; a payload has its own",
                &mut errors,
            );
        }
        for variant in &data.variants {
            attr::refuse(
                &variant.attrs,
                "interrupt",
                "a variant has no options, its name says whose interrupt it is",
                &mut errors,
            );
        }
        Ok(Self {
            input,
            kind: options.path("kind").cloned(),
            variants: data.variants.iter().collect(),
            errors: errors.into_error(),
        })
    }
}

fn not_an_enum(keyword: TokenStream) -> syn::Error {
    syn::Error::new_spanned(
        keyword,
        "a sealed interrupt request is an enum: write one variant for each kind of agent",
    )
}
