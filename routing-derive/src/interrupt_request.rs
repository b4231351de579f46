//! `#[derive(InterruptRequest)]`: the sealed enumeration of all interrupts of an orchestrator.

use proc_macro2::TokenStream;
use syn::DeriveInput;

/// The implementation, or the errors with a stub of it.
pub(crate) fn derive(_input: &DeriveInput) -> TokenStream {
    TokenStream::new()
}
