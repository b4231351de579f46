//! Reading an object whose one property is a given route's.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use super::AnswerFault;
use super::watch::Watch;
use crate::route::{Route, RouteId};
use crate::routing::Routing;

/// Reads the request of the route `M` from the object that has it as its only property.
pub(crate) struct OneRoute<M, W> {
    watch: W,
    route: PhantomData<M>,
}

impl<M: Route, W: Watch> OneRoute<M, W> {
    const FIELDS: &'static [&'static str] = &[M::FIELD];

    #[inline]
    pub(crate) fn new(watch: W) -> Self {
        Self {
            watch,
            route: PhantomData,
        }
    }

    #[cold]
    fn refuse<E: Error>(
        &self,
        fault: AnswerFault,
        key: Option<&str>,
        reason: impl fmt::Display,
    ) -> E {
        self.watch.note(fault, key);
        E::custom(reason)
    }
}

impl<'de, M: Route, W: Watch> DeserializeSeed<'de> for OneRoute<M, W> {
    type Value = M::Request;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<M::Request, D::Error> {
        deserializer.deserialize_struct(M::Routing::NAME, Self::FIELDS, self)
    }
}

impl<'de, M: Route, W: Watch> Visitor<'de> for OneRoute<M, W> {
    type Value = M::Request;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "an object with `{}` alone", M::FIELD)
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<M::Request, A::Error> {
        let Some(()) = map.next_key_seed(FieldSeed(&self))? else {
            let reason = format_args!("nothing is set; `{}` must be", M::FIELD);
            return Err(self.refuse(AnswerFault::NoRoute, None, reason));
        };
        let Some(request) = map.next_value::<Option<M::Request>>()? else {
            let reason = format_args!("`{}` is null; it must be set", M::FIELD);
            return Err(self.refuse(AnswerFault::NoRoute, Some(M::FIELD), reason));
        };
        if map.next_key_seed(FieldSeed(&self))?.is_some() {
            let reason = format_args!("the field `{}` stands twice", M::FIELD);
            return Err(self.refuse(AnswerFault::DuplicateKey, Some(M::FIELD), reason));
        }
        Ok(request)
    }
}

/// Reads a key, which must be the route's.
struct FieldSeed<'s, M, W>(&'s OneRoute<M, W>);

impl<'de, M: Route, W: Watch> DeserializeSeed<'de> for FieldSeed<'_, M, W> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<M: Route, W: Watch> Visitor<'_> for FieldSeed<'_, M, W> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the field `{}`", M::FIELD)
    }

    #[inline]
    fn visit_str<E: Error>(self, field: &str) -> Result<(), E> {
        if field == M::FIELD {
            return Ok(());
        }
        Err(if RouteId::<M::Routing>::from_field(field).is_some() {
            let reason = format_args!(
                "the route `{field}` is not allowed here; only `{}` is",
                M::FIELD
            );
            self.0.refuse(AnswerFault::RouteNotAllowed, None, reason)
        } else {
            let reason = format_args!(
                "unknown field `{field}`; only `{}` may stand here",
                M::FIELD
            );
            self.0.refuse(AnswerFault::UnknownField, None, reason)
        })
    }
}
