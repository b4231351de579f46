//! `#[derive(InterruptRequest)]`: the sealed enumeration of all interrupts of an orchestrator.

mod check;
mod expand;
mod fallback;
mod model;

use proc_macro2::TokenStream;
use syn::DeriveInput;

/// The implementation, or the errors with a stub of it.
pub(crate) fn derive(input: &DeriveInput) -> TokenStream {
    match model::RequestModel::parse(input).and_then(|model| check::check(&model)) {
        Ok(checked) => expand::interrupt_request(&checked),
        Err(errors) => fallback::interrupt_request(input, &errors),
    }
}
