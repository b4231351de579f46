//! Answers into typed values.

use std::cell::Cell;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer};

use super::body::body;
use super::explain::explain;
use super::fits::misfit;
use super::one_route::OneRoute;
use super::record::RecordSeed;
use super::strict::Strict;
use super::watch::{Buffered, Unwatched, Watch};
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
    read(&Any(PhantomData), text)
}

/// Reads an answer that may hold the route `M` alone: required, not null, and nothing beside it.
///
/// # Errors
///
/// [`AnswerError`], with the path of what is wrong. Another route of the record is
/// [`AnswerFault::RouteNotAllowed`], any other key [`AnswerFault::UnknownField`].
pub fn read_narrowed<M: Route>(text: &[u8]) -> Result<Narrowed<M>, AnswerError> {
    read(&One(PhantomData), text)
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
    read(&Within(allowed), text)
}

/// What an answer is read as. Read at most twice: a second time to explain what was wrong.
pub(super) trait AnswerForm {
    /// What comes of it.
    type Value;

    /// Reads it; the deserializer is strict already.
    fn read<'de, D: Deserializer<'de>, W: Watch>(
        &self,
        deserializer: D,
        watch: W,
    ) -> Result<Self::Value, D::Error>;

    /// The schema that it has to fit, if one is known.
    fn schema(&self) -> Option<&'static AnswerSchema>;
}

fn read<F: AnswerForm>(form: &F, answer: &[u8]) -> Result<F::Value, AnswerError> {
    let text = body(answer)?;
    let mut json = serde_json::Deserializer::from_slice(text);
    let is_buffered = Cell::new(false);
    let strict = Strict::new(&mut json, Buffered(&is_buffered));
    match form.read(strict, Unwatched) {
        Ok(value) if json.end().is_ok() => {
            if is_buffered.get() {
                fits(form, text)?;
            }
            Ok(value)
        }
        _ => Err(explain(form, text)),
    }
}

/// Compares an answer with its schema, for reading alone was not strict.
#[cold]
fn fits<F: AnswerForm>(form: &F, text: &[u8]) -> Result<(), AnswerError> {
    let Some(schema) = form.schema() else {
        return Ok(());
    };
    let answer = serde_json::from_slice(text)
        .map_err(|error| AnswerError::new(AnswerFault::Syntax, "$", error.to_string()))?;
    misfit(schema.constraints_schema(), &answer).map_or(Ok(()), Err)
}

/// Any type.
struct Any<T>(PhantomData<fn() -> T>);

impl<T: DeserializeOwned> AnswerForm for Any<T> {
    type Value = T;

    #[inline]
    fn read<'de, D: Deserializer<'de>, W: Watch>(
        &self,
        deserializer: D,
        _watch: W,
    ) -> Result<T, D::Error> {
        T::deserialize(deserializer)
    }

    fn schema(&self) -> Option<&'static AnswerSchema> {
        None
    }
}

/// One route alone.
struct One<M>(PhantomData<fn() -> M>);

impl<M: Route> AnswerForm for One<M> {
    type Value = Narrowed<M>;

    #[inline]
    fn read<'de, D: Deserializer<'de>, W: Watch>(
        &self,
        deserializer: D,
        watch: W,
    ) -> Result<Narrowed<M>, D::Error> {
        OneRoute::<M, W>::new(watch)
            .deserialize(deserializer)
            .map(Narrowed::new)
    }

    fn schema(&self) -> Option<&'static AnswerSchema> {
        let table = M::Routing::schemas();
        Some(table.narrowed_unchecked(M::id(), Dialect::JsonSchema))
    }
}

/// One of these routes.
pub(super) struct Within<R: Routing>(pub(super) RouteSet<R>);

impl<R: Routing> AnswerForm for Within<R> {
    type Value = R;

    fn read<'de, D: Deserializer<'de>, W: Watch>(
        &self,
        deserializer: D,
        watch: W,
    ) -> Result<R, D::Error> {
        let fault = Cell::new(None);
        let read = RecordSeed::new(self.0, &fault).deserialize(deserializer);
        if let (Err(_), Some(fault)) = (&read, fault.get()) {
            watch.note(fault, None);
        }
        read
    }

    fn schema(&self) -> Option<&'static AnswerSchema> {
        Some(R::schemas().full_unchecked(Dialect::JsonSchema))
    }
}
