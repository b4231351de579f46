//! All mistakes of one item, to be reported together.

use std::fmt::Display;

use quote::ToTokens;

/// A collection of errors, in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Adds an error at a token of the user's.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.add(syn::Error::new_spanned(tokens, message));
    }

    /// Adds an error.
    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// The errors as one, or nothing if none was found.
    pub(crate) fn into_error(self) -> Option<syn::Error> {
        self.0
    }
}
