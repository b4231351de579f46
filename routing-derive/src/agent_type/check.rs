//! What the enumeration means, or what is wrong with it.

use std::collections::HashMap;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Fields, Ident, Path};

use super::model::{Agent, EnumerationModel};
use crate::casing::screaming_snake;
use crate::docs::doc_text;
use crate::errors::Errors;

/// An enumeration with no error that can be found in it alone.
#[derive(Debug)]
pub(super) struct CheckedEnumeration<'a> {
    pub(super) ident: &'a Ident,
    pub(super) route: Option<Path>,
    pub(super) description: String,
    pub(super) agents: Vec<CheckedAgent<'a>>,
}

/// A variant and its name on the wire.
#[derive(Debug)]
pub(super) struct CheckedAgent<'a> {
    pub(super) ident: &'a Ident,
    pub(super) name: String,
    pub(super) origin: Option<Ident>,
}

/// Checks the enumeration.
pub(super) fn check<'a>(model: &EnumerationModel<'a>) -> syn::Result<CheckedEnumeration<'a>> {
    let mut errors = Errors::default();
    let input = model.input;
    if !input.generics.params.is_empty() {
        errors.at(
            &input.generics,
            "an enumeration of agent types cannot be generic: remove the parameters",
        );
    }
    if model.agents.is_empty() {
        errors.at(
            &input.ident,
            format_args!(
                "`{}` has no variant: give it one for each agent",
                input.ident
            ),
        );
    }
    let mut names = HashMap::new();
    let agents = model
        .agents
        .iter()
        .map(|agent| check_agent(agent, model, &mut names, &mut errors))
        .collect();
    match errors.into_error() {
        Some(errors) => Err(errors),
        None => Ok(CheckedEnumeration {
            ident: &input.ident,
            route: model.route.clone(),
            description: description(model),
            agents,
        }),
    }
}

fn check_agent<'a>(
    agent: &Agent<'a>,
    model: &EnumerationModel<'a>,
    names: &mut HashMap<String, &'a Ident>,
    errors: &mut Errors,
) -> CheckedAgent<'a> {
    let ident = &agent.source.ident;
    if !matches!(agent.source.fields, Fields::Unit) {
        errors.at(
            &agent.source.fields,
            format_args!("an agent type carries no data: remove the fields of `{ident}`"),
        );
    }
    if let (Some(origin), None) = (&agent.origin, &model.route) {
        errors.at(
            origin,
            format_args!(
                "`{}` names no routes of others: add `#[agent_type(route = ...)]` to it, or remove `origin`",
                model.input.ident
            ),
        );
    }
    let name = wire_name(agent);
    if let Some(first) = names.insert(name.clone(), ident) {
        let token = match &agent.rename {
            Some(rename) => rename.to_token_stream(),
            None => ident.to_token_stream(),
        };
        errors.at(
            token,
            format_args!("the name `{name}` is taken by `{first}`; rename one of them"),
        );
    }
    CheckedAgent {
        ident,
        name,
        origin: agent.origin.clone(),
    }
}

fn wire_name(agent: &Agent<'_>) -> String {
    match &agent.rename {
        Some(rename) => rename.value(),
        None => screaming_snake(&agent.source.ident.unraw().to_string()),
    }
}

/// The doc comment of the enumeration, and below it those of its variants.
fn description(model: &EnumerationModel<'_>) -> String {
    let mut paragraphs = Vec::new();
    let of_enum = doc_text(&model.input.attrs);
    if !of_enum.is_empty() {
        paragraphs.push(of_enum);
    }
    let of_agents: Vec<String> = model
        .agents
        .iter()
        .map(|agent| (wire_name(agent), doc_text(&agent.source.attrs)))
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| format!("- {name}: {}", text.replace('\n', " ")))
        .collect();
    if !of_agents.is_empty() {
        paragraphs.push(of_agents.join("\n"));
    }
    paragraphs.join("\n\n")
}
