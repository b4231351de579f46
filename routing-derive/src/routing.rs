//! `#[derive(Routing)]`: a record with one optional field for each route.

mod check;
mod expand;
mod fallback;
mod model;
mod optional;
mod plan;

use proc_macro2::TokenStream;
use syn::DeriveInput;

/// The implementation, or the errors with a stub of it.
pub(crate) fn derive(input: &DeriveInput) -> TokenStream {
    match model::RecordModel::parse(input) {
        Ok(model) => match check::check(&model) {
            Ok(checked) => expand::routing(&checked),
            Err(refused) => fallback::record(&refused),
        },
        Err(error) => fallback::shapeless(input, &error),
    }
}
