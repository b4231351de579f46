//! Answers into typed values.

use std::cell::Cell;

use serde::de::DeserializeOwned;

use super::body::body;
use super::fits::misfit;
use super::read_error::ReadError;
use super::reader::Reader;
use super::record::{record, request};
use super::tree::{Parsed, Tree};
use super::{AnswerError, AnswerFault};
use crate::model::Dialect;
use crate::narrowed::Narrowed;
use crate::route::Route;
use crate::route_set::RouteSet;
use crate::routing::Routing;
use crate::schema::AnswerSchema;

/// Reads one JSON value strictly: no field that the type does not have, no array for an object, no
/// doubled key, at any depth.
///
/// White space and one Markdown code fence around the value are tolerated, nothing else is.
///
/// # Errors
///
/// [`AnswerError`], with the path of what is wrong.
pub fn read_strictly<T: DeserializeOwned>(text: &[u8]) -> Result<T, AnswerError> {
    read(text, None, |tree, is_buffered| {
        T::deserialize(Reader::new(tree, is_buffered))
    })
}

/// Reads an answer that may hold the route `M` alone: required, not null, and nothing beside it.
///
/// # Errors
///
/// [`AnswerError`], with the path of what is wrong. Another route of the record is
/// [`AnswerFault::RouteNotAllowed`], any other key [`AnswerFault::UnknownField`].
pub fn read_narrowed<M: Route>(text: &[u8]) -> Result<Narrowed<M>, AnswerError> {
    let schema = || {
        let table = M::Routing::schemas();
        table.narrowed_unchecked(M::id(), Dialect::JsonSchema)
    };
    read(text, Some(&schema), request::<M>).map(Narrowed::new)
}

/// Reads an answer that holds exactly one of the allowed routes. A null beside it counts as unset.
///
/// If only one route is allowed, it is read as by [`read_narrowed`].
///
/// # Errors
///
/// [`AnswerError`], with the path of what is wrong; [`AnswerFault::NoRoute`] if nothing is allowed.
pub fn read_within<R: Routing>(text: &[u8], allowed: RouteSet<R>) -> Result<R, AnswerError> {
    if let Some(route) = allowed.single() {
        return R::__parse_narrowed(route.index(), text);
    }
    if allowed.is_empty() {
        let reason = format!("no route of `{}` is allowed here", R::NAME);
        return Err(AnswerError::new(AnswerFault::NoRoute, "$", reason));
    }
    let schema = || R::schemas().full_unchecked(Dialect::JsonSchema);
    read(text, Some(&schema), |tree, is_buffered| {
        record(tree, allowed, is_buffered)
    })
}

/// Reads what is in the text, and compares it with its schema where reading alone is not strict.
fn read<T>(
    answer: &[u8],
    schema: Option<&dyn Fn() -> &'static AnswerSchema>,
    read: impl FnOnce(Tree<'_>, &Cell<bool>) -> Result<T, ReadError>,
) -> Result<T, AnswerError> {
    let text = body(answer)?;
    let Parsed { tree, fault } = Parsed::of(text);
    let is_buffered = Cell::new(false);
    let value = match (read(tree, &is_buffered), fault) {
        // What stands first in the text is told.
        (Err(error), Some(fault)) if error.is_unfinished() => return Err(fault),
        (Err(error), _) => return Err(error.into()),
        (Ok(_), Some(fault)) => return Err(fault),
        (Ok(value), None) => value,
    };
    match schema {
        Some(schema) if is_buffered.get() => fits(schema(), text).map(|()| value),
        Some(_) | None => Ok(value),
    }
}

/// Compares an answer with its schema, for reading alone was not strict.
#[cold]
fn fits(schema: &AnswerSchema, text: &[u8]) -> Result<(), AnswerError> {
    let answer = serde_json::from_slice(text)
        .map_err(|error| AnswerError::new(AnswerFault::Syntax, "$", error.to_string()))?;
    misfit(schema.constraints_schema(), &answer).map_or(Ok(()), Err)
}

/// The fault that stands before the end of a text, which may go on; `None` if all of it may be right.
pub(super) fn fault_before_end<R: Routing>(
    text: &[u8],
    allowed: RouteSet<R>,
) -> Option<AnswerError> {
    let Parsed { tree, fault } = Parsed::of(text);
    match record(tree, allowed, &Cell::new(false)) {
        Err(error) if !error.is_unfinished() => Some(error.into()),
        Ok(_) | Err(_) => fault.filter(|fault| fault.fault() != AnswerFault::CutOff),
    }
}
