//! What the enumeration means, or what is wrong with it.

use syn::{Fields, Ident, Path, Type, Variant};

use super::model::RequestModel;
use crate::errors::Errors;

/// A sealed interrupt request with no error that can be found without its kinds.
#[derive(Debug)]
pub(super) struct CheckedRequest<'a> {
    pub(super) ident: &'a Ident,
    pub(super) kind: Path,
    pub(super) interrupts: Vec<InterruptVariant<'a>>,
}

/// A variant and its payload.
#[derive(Debug)]
pub(super) struct InterruptVariant<'a> {
    pub(super) ident: &'a Ident,
    pub(super) payload: &'a Type,
    /// Whether no other variant has this payload type, so that the type says who raised it.
    pub(super) alone: bool,
}

/// Checks the enumeration.
pub(super) fn check<'a>(model: &RequestModel<'a>) -> syn::Result<CheckedRequest<'a>> {
    let mut errors = Errors::default();
    if let Some(error) = &model.errors {
        errors.add(error.clone());
    }
    let input = model.input;
    if !input.generics.params.is_empty() {
        errors.at(
            &input.generics,
            "a sealed interrupt request cannot be generic: give its variants concrete payloads",
        );
    }
    if model.variants.is_empty() {
        errors.at(
            &input.ident,
            format_args!(
                "`{}` has no variant: give it one for each kind of agent",
                input.ident
            ),
        );
    }
    // A wrong option has been reported already.
    if model.kind.is_none() && model.errors.is_none() {
        errors.at(
            &input.ident,
            "whose interrupts are these? Name the agents with `#[interrupt(kind = AgentKind)]`",
        );
    }
    let interrupts = interrupts(&model.variants, &mut errors);
    match (errors.into_error(), &model.kind) {
        (None, Some(kind)) => Ok(CheckedRequest {
            ident: &input.ident,
            kind: kind.clone(),
            interrupts,
        }),
        (Some(errors), _) => Err(errors),
        (None, None) => Err(syn::Error::new_spanned(
            &input.ident,
            "`#[interrupt(kind = AgentKind)]` is missing",
        )),
    }
}

fn interrupts<'a>(variants: &[&'a Variant], errors: &mut Errors) -> Vec<InterruptVariant<'a>> {
    let payloads: Vec<(&Ident, &Type)> = variants
        .iter()
        .filter_map(|variant| Some((&variant.ident, payload(variant, errors)?)))
        .collect();
    payloads
        .iter()
        .map(|(ident, payload)| InterruptVariant {
            ident,
            payload,
            alone: payloads
                .iter()
                .filter(|(_, other)| other == payload)
                .count()
                == 1,
        })
        .collect()
}

fn payload<'a>(variant: &'a Variant, errors: &mut Errors) -> Option<&'a Type> {
    let payload = match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => fields.unnamed.first(),
        Fields::Unnamed(_) | Fields::Named(_) | Fields::Unit => None,
    };
    if payload.is_none() {
        errors.at(
            variant,
            format_args!(
                "the variant `{0}` does not carry exactly one payload: write `{0}(Payload)`",
                variant.ident
            ),
        );
    }
    payload.map(|field| &field.ty)
}
