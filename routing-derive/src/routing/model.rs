//! The input: a record with its fields and options.

use syn::{Data, DeriveInput, Fields, Ident, LitStr, Path, Type};

use crate::attr::{self, CRATE, Known, Options, ValueForm};
use crate::errors::Errors;

const RECORD_OPTIONS: &[Known] = &[
    ("agent_types", ValueForm::Path),
    ("rename_all", ValueForm::Text),
    ("rename", ValueForm::Text),
    ("actions", ValueForm::Path),
    CRATE,
];
const FIELD_OPTIONS: &[Known] = &[
    ("marker", ValueForm::Path),
    ("agent_type", ValueForm::Path),
    ("rename", ValueForm::Text),
    ("returns", ValueForm::Flag),
];

/// A record as it was written.
#[derive(Debug)]
pub(super) struct RecordModel<'a> {
    pub(super) input: &'a DeriveInput,
    pub(super) agent_types: Option<Path>,
    pub(super) rename_all: Option<LitStr>,
    pub(super) rename: Option<LitStr>,
    pub(super) actions: Option<Ident>,
    pub(super) fields: Vec<Field<'a>>,
    /// What is wrong with the options.
    pub(super) errors: Option<syn::Error>,
}

/// A field as it was written.
#[derive(Debug)]
pub(super) struct Field<'a> {
    pub(super) source: &'a syn::Field,
    pub(super) ident: &'a Ident,
    pub(super) type_: &'a Type,
    pub(super) marker: Option<Ident>,
    pub(super) agent_type: Option<Path>,
    pub(super) rename: Option<LitStr>,
    pub(super) returns: bool,
}

impl<'a> RecordModel<'a> {
    /// Reads a struct with named fields; anything else is refused, for it has no routes.
    pub(super) fn parse(input: &'a DeriveInput) -> syn::Result<Self> {
        let named = match &input.data {
            Data::Struct(data) => match &data.fields {
                Fields::Named(fields) => &fields.named,
                Fields::Unnamed(fields) => {
                    return Err(syn::Error::new_spanned(
                        fields,
                        "a routing record has named fields: write `{ request: Option<Request> }`",
                    ));
                }
                Fields::Unit => return Err(without_fields(&input.ident)),
            },
            Data::Enum(data) => {
                return Err(syn::Error::new_spanned(
                    data.enum_token,
                    "a routing record is a struct: write one optional field for each variant",
                ));
            }
            Data::Union(data) => {
                return Err(syn::Error::new_spanned(
                    data.union_token,
                    "a routing record is a struct: write `struct` and make each field optional",
                ));
            }
        };
        if named.is_empty() {
            return Err(without_fields(&input.ident));
        }
        let mut errors = Errors::default();
        attr::refuse(
            &input.attrs,
            "route",
            "write `#[routing(...)]` on a record",
            &mut errors,
        );
        attr::refuse_foreign(
            &input.attrs,
            "the derive itself writes the record's reader and its schema; names are given with `#[routing(rename_all = \"...\")]`",
            &mut errors,
        );
        let options = Options::read(&input.attrs, "routing", RECORD_OPTIONS, &mut errors);
        let fields = named
            .iter()
            .filter_map(|source| Field::parse(source, &mut errors))
            .collect();
        Ok(Self {
            input,
            agent_types: options.path("agent_types").cloned(),
            rename_all: options.text("rename_all").cloned(),
            rename: options.text("rename").cloned(),
            actions: options.ident("actions", &mut errors).cloned(),
            fields,
            errors: errors.into_error(),
        })
    }
}

impl<'a> Field<'a> {
    fn parse(source: &'a syn::Field, errors: &mut Errors) -> Option<Self> {
        attr::refuse(
            &source.attrs,
            "routing",
            "write `#[route(...)]` on a field",
            errors,
        );
        attr::refuse_foreign(
            &source.attrs,
            "the derive itself writes the record's reader and its schema; a field is named with `#[route(rename = \"...\")]`",
            errors,
        );
        let options = Options::read(&source.attrs, "route", FIELD_OPTIONS, errors);
        Some(Self {
            source,
            ident: source.ident.as_ref()?,
            type_: &source.ty,
            marker: options.ident("marker", errors).cloned(),
            agent_type: options.path("agent_type").cloned(),
            rename: options.text("rename").cloned(),
            returns: options.flag("returns"),
        })
    }
}

fn without_fields(record: &Ident) -> syn::Error {
    syn::Error::new_spanned(
        record,
        format_args!(
            "`{record}` has no route: give it at least one field, `request: Option<Request>`"
        ),
    )
}
