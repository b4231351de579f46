//! `#[derive(AgentType)]`: a closed enumeration of agents.

mod check;
mod expand;
mod fallback;
mod model;

use proc_macro2::TokenStream;
use syn::DeriveInput;

/// The implementation, or the errors with a stub of it.
pub(crate) fn derive(input: &DeriveInput) -> TokenStream {
    match model::EnumerationModel::parse(input).and_then(|model| check::check(&model)) {
        Ok(checked) => expand::agent_type(&checked),
        Err(errors) => fallback::agent_type(input, &errors),
    }
}
