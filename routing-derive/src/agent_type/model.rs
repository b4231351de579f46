//! What was written: an enumeration with its options.

use syn::{Data, DeriveInput, Ident, LitStr, Path, Variant};

use crate::attr::{self, CRATE, Known, Options, ValueForm};
use crate::errors::Errors;

const ENUM_OPTIONS: &[Known] = &[("route", ValueForm::Path), CRATE];
const VARIANT_OPTIONS: &[Known] = &[("rename", ValueForm::Text), ("origin", ValueForm::Path)];

/// What to write in place of an attribute of serde or schemars.
const NAMED: &str = "the derive itself writes the reader and the schema; an agent is named with `#[agent_type(rename = \"...\")]`";

/// An enumeration of agent types as it was written.
#[derive(Debug)]
pub(super) struct EnumerationModel<'a> {
    pub(super) input: &'a DeriveInput,
    /// The enumeration of routes, if it is another one.
    pub(super) route: Option<Path>,
    pub(super) agents: Vec<Agent<'a>>,
}

/// A variant as it was written.
#[derive(Debug)]
pub(super) struct Agent<'a> {
    pub(super) source: &'a Variant,
    pub(super) rename: Option<LitStr>,
    pub(super) origin: Option<Ident>,
}

impl<'a> EnumerationModel<'a> {
    /// Reads the enumeration and its options.
    pub(super) fn parse(input: &'a DeriveInput) -> syn::Result<Self> {
        let Data::Enum(data) = &input.data else {
            return Err(syn::Error::new_spanned(
                &input.ident,
                "`AgentType` is derived for an enum without fields: one variant for each agent",
            ));
        };
        let mut errors = Errors::default();
        attr::refuse_foreign(&input.attrs, NAMED, &mut errors);
        let options = Options::read(&input.attrs, "agent_type", ENUM_OPTIONS, &mut errors);
        let agents = data
            .variants
            .iter()
            .map(|source| Agent::parse(source, &mut errors))
            .collect();
        match errors.into_error() {
            Some(errors) => Err(errors),
            None => Ok(Self {
                input,
                route: options.path("route").cloned(),
                agents,
            }),
        }
    }
}

impl<'a> Agent<'a> {
    fn parse(source: &'a Variant, errors: &mut Errors) -> Self {
        attr::refuse_foreign(&source.attrs, NAMED, errors);
        let options = Options::read(&source.attrs, "agent_type", VARIANT_OPTIONS, errors);
        Self {
            source,
            rename: options.text("rename").cloned(),
            origin: options.ident("origin", errors).cloned(),
        }
    }
}
