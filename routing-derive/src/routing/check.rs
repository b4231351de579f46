//! What a record means, or what is wrong with it.

use std::collections::HashMap;

use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::{Ident, Path, Type};

use super::model::{Field, RecordModel};
use super::optional::optional;
use super::plan::{AgentType, CheckedRecord, RecordPlan, RecordRoute, RefusedRecord};
use crate::casing::{Casing, pascal};
use crate::docs::doc_text;
use crate::errors::Errors;
use crate::nearest::nearest;
use crate::type_name::type_name;

/// A set of routes is a word of 64 bits.
const MOST_ROUTES: usize = 64;

/// Checks a record and finds all its mistakes at once.
pub(super) fn check<'a>(
    model: &RecordModel<'a>,
) -> Result<CheckedRecord<'a>, Box<RefusedRecord<'a>>> {
    let mut errors = Errors::default();
    if let Some(error) = &model.errors {
        errors.add(error.clone());
    }
    let generics = &model.input.generics;
    if !generics.params.is_empty() {
        errors.at(
            generics,
            "a routing record cannot be generic: give its fields concrete types",
        );
    }
    if let Some(field) = model.fields.get(MOST_ROUTES) {
        errors.at(
            field.ident,
            format_args!(
                "a routing record has at most {MOST_ROUTES} routes, and this is one more: put some of them into a record of their own"
            ),
        );
    }
    let plan = plan(model, &mut errors);
    match errors.into_error() {
        None => Ok(CheckedRecord(plan)),
        Some(errors) => Err(Box::new(RefusedRecord {
            errors,
            plan: generics.params.is_empty().then_some(plan),
        })),
    }
}

fn plan<'a>(model: &RecordModel<'a>, errors: &mut Errors) -> RecordPlan<'a> {
    let record = &model.input.ident;
    let casing = casing(model, errors);
    let mut taken = Taken::default();
    let routes = model
        .fields
        .iter()
        .take(MOST_ROUTES)
        .map(|field| {
            let route = route(field, model, casing, errors);
            taken.check(field, &route, errors);
            route
        })
        .collect();
    RecordPlan {
        record,
        visibility: &model.input.vis,
        name: match &model.rename {
            Some(rename) => rename.value(),
            None => record.unraw().to_string(),
        },
        actions: match &model.actions {
            Some(actions) => actions.clone(),
            None => format_ident!("{record}Actions"),
        },
        description: doc_text(&model.input.attrs),
        agent_types: model.agent_types.clone(),
        routes,
    }
}

fn casing(model: &RecordModel<'_>, errors: &mut Errors) -> Casing {
    let Some(rename_all) = &model.rename_all else {
        return Casing::Camel;
    };
    let given = rename_all.value();
    Casing::named(&given).unwrap_or_else(|| {
        let names = || Casing::ALL.into_iter().map(|(name, _)| name);
        let meant = match nearest(&given, names()) {
            Some(name) => format!("; did you mean `{name}`?"),
            None => String::new(),
        };
        let known: Vec<&str> = names().collect();
        errors.at(
            rename_all,
            format_args!(
                "unknown casing `{given}`{meant} (known casings: {})",
                known.join(", ")
            ),
        );
        Casing::Camel
    })
}

fn route<'a>(
    field: &Field<'a>,
    model: &RecordModel<'a>,
    casing: Casing,
    errors: &mut Errors,
) -> RecordRoute<'a> {
    let record = &model.input.ident;
    let name = field.ident.unraw().to_string();
    RecordRoute {
        field: field.ident,
        request: request(field, errors),
        marker: match &field.marker {
            Some(marker) => marker.clone(),
            None => format_ident!("{record}{}Route", pascal(&name), span = field.ident.span()),
        },
        name: match &field.rename {
            Some(rename) => rename.value(),
            None => casing.apply(&name),
        },
        named_at: match &field.rename {
            Some(rename) => rename.span(),
            None => field.ident.span(),
        },
        description: doc_text(&field.source.attrs),
        agent_type: agent_type(field, model, errors),
        returns: field.returns,
    }
}

fn request<'a>(field: &Field<'a>, errors: &mut Errors) -> &'a Type {
    let Some(request) = optional(field.type_) else {
        errors.at(
            field.type_,
            format_args!(
                "the field `{}` is not optional, so it cannot be left unset: write `Option<{}>`",
                field.ident,
                type_name(field.type_)
            ),
        );
        return field.type_;
    };
    if let Some(inner) = optional(request) {
        errors.at(
            request,
            format_args!(
                "the request of a route cannot be optional itself: write `Option<{}>`",
                type_name(inner)
            ),
        );
        return inner;
    }
    request
}

/// The field's target: a variant of the record's enumeration, or of the one that its path names.
fn agent_type(
    field: &Field<'_>,
    model: &RecordModel<'_>,
    errors: &mut Errors,
) -> Option<AgentType> {
    let Some(path) = &field.agent_type else {
        if let Some(agent_types) = &model.agent_types {
            errors.at(
                field.ident,
                format_args!(
                    "the field `{}` leads to no agent type: add `#[route(agent_type = ...)]` with a variant of `{}`",
                    field.ident,
                    type_name(agent_types)
                ),
            );
        }
        return None;
    };
    match (&model.agent_types, path.get_ident()) {
        (Some(agent_types), Some(variant)) => Some(AgentType {
            enumeration: agent_types.clone(),
            variant: variant.clone(),
        }),
        (Some(agent_types), None) => {
            errors.at(
                path,
                format_args!(
                    "name the variant alone: it is one of `{}`",
                    type_name(agent_types)
                ),
            );
            None
        }
        (None, Some(variant)) => {
            errors.at(
                path,
                format_args!(
                    "`{variant}` alone does not say of which enumeration it is: write the path, as in `RouteType::{variant}`, or add `#[routing(agent_types = RouteType)]` to the record"
                ),
            );
            None
        }
        (None, None) => whole_path(path),
    }
}

/// `a::RouteType::ReviewAgent` as `a::RouteType` and `ReviewAgent`.
fn whole_path(path: &Path) -> Option<AgentType> {
    let mut enumeration = path.clone();
    let variant = enumeration.segments.pop()?.ident;
    enumeration.segments.pop_punct();
    Some(AgentType {
        enumeration,
        variant,
    })
}

/// The names that fields have taken, each with its field.
#[derive(Debug, Default)]
struct Taken<'a> {
    markers: HashMap<Ident, &'a Ident>,
    names: HashMap<String, &'a Ident>,
    agent_types: HashMap<String, &'a Ident>,
}

impl<'a> Taken<'a> {
    fn check(&mut self, field: &Field<'a>, route: &RecordRoute<'a>, errors: &mut Errors) {
        if let Some(first) = self.markers.insert(route.marker.clone(), field.ident) {
            errors.at(
                &route.marker,
                format_args!(
                    "the marker `{}` already stands for the field `{first}`: give `{}` another with `#[route(marker = ...)]`",
                    route.marker, field.ident
                ),
            );
        }
        if let Some(first) = self.names.insert(route.name.clone(), field.ident) {
            let token = match &field.rename {
                Some(rename) => rename.to_token_stream(),
                None => field.ident.to_token_stream(),
            };
            errors.at(
                token,
                format_args!(
                    "the name `{}` is already that of the field `{first}`: give `{}` another with `#[route(rename = \"...\")]`",
                    route.name, field.ident
                ),
            );
        }
        if let Some(agent_type) = &route.agent_type {
            let path = format!(
                "{}::{}",
                type_name(&agent_type.enumeration),
                agent_type.variant
            );
            if let Some(first) = self.agent_types.insert(path, field.ident) {
                errors.at(
                    &field.agent_type,
                    format_args!(
                        "`{}` already has a route, the field `{first}`: an agent type has exactly one",
                        agent_type.variant
                    ),
                );
            }
        }
    }
}
