//! What a record means.

use proc_macro2::Span;
use quote::format_ident;
use syn::{DeriveInput, Ident, Path, Type, Visibility};

/// A record: what is written into its implementation.
#[derive(Debug)]
pub(super) struct RecordPlan<'a> {
    pub(super) record: &'a Ident,
    pub(super) visibility: &'a Visibility,
    /// The name in schemas.
    pub(super) name: String,
    /// The name of the trait of its actions.
    pub(super) actions: Ident,
    pub(super) description: String,
    /// The enumeration that its routes cover, if the record answers interrupts.
    pub(super) agent_types: Option<Path>,
    pub(super) routes: Vec<RecordRoute<'a>>,
}

impl<'a> RecordPlan<'a> {
    /// The plan for an item that has no routes.
    pub(super) fn shapeless(input: &'a DeriveInput) -> Self {
        Self {
            record: &input.ident,
            visibility: &input.vis,
            name: input.ident.to_string(),
            actions: format_ident!("{}Actions", input.ident),
            description: String::new(),
            agent_types: None,
            routes: Vec::new(),
        }
    }
}

/// A route of a record.
#[derive(Debug)]
pub(super) struct RecordRoute<'a> {
    pub(super) field: &'a Ident,
    pub(super) request: &'a Type,
    pub(super) marker: Ident,
    /// The name in JSON.
    pub(super) name: String,
    /// The source of that name.
    pub(super) named_at: Span,
    pub(super) description: String,
    pub(super) agent_type: Option<AgentType>,
    pub(super) returns: bool,
}

/// Where a route leads.
#[derive(Debug, Clone)]
pub(super) struct AgentType {
    pub(super) enumeration: Path,
    pub(super) variant: Ident,
}

/// A record with no error that can be found in it alone.
#[derive(Debug)]
pub(super) struct CheckedRecord<'a>(pub(super) RecordPlan<'a>);

/// A record with mistakes.
#[derive(Debug)]
pub(super) struct RefusedRecord<'a> {
    pub(super) errors: syn::Error,
    /// The part of it that could be understood; nothing if it is generic.
    pub(super) plan: Option<RecordPlan<'a>>,
}
