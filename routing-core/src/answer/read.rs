//! Answers into typed values.
use super::AnswerError;
use crate::narrowed::Narrowed;
use crate::route::Route;
use crate::route_set::RouteSet;
use crate::routing::Routing;
use serde::de::DeserializeOwned;

/// Reads one JSON value strictly.
///
/// # Errors
///
/// [`AnswerError`] names the path.
pub fn read_strictly<T: DeserializeOwned>(_text: &[u8]) -> Result<T, AnswerError> {
    unimplemented!("schema helper")
}

/// Reads an answer that may hold the route `M` alone.
///
/// # Errors
///
/// [`AnswerError`] names the path.
pub fn read_narrowed<M: Route>(_text: &[u8]) -> Result<Narrowed<M>, AnswerError> {
    unimplemented!("schema helper")
}

/// Reads an answer that holds exactly one of the allowed routes.
///
/// # Errors
///
/// [`AnswerError`] names the path.
pub fn read_within<R: Routing>(_text: &[u8], _allowed: RouteSet<R>) -> Result<R, AnswerError> {
    unimplemented!("schema helper")
}
