//! Reading a routing record strictly: an object with exactly one of the allowed routes.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use super::AnswerFault;
use crate::route::RouteId;
use crate::route_set::RouteSet;
use crate::routing::Routing;

/// Reads a record that may hold any one of the allowed routes.
///
/// # Errors
///
/// If the input is no object, a key is unknown, not allowed or doubled, or not exactly one field is set. A field that
/// is null is not set.
pub fn deserialize_record<'de, R: Routing, D: Deserializer<'de>>(
    deserializer: D,
    allowed: RouteSet<R>,
) -> Result<R, D::Error> {
    RecordSeed::new(allowed, &Cell::new(None)).deserialize(deserializer)
}

/// Reads a record that may hold any one of the allowed routes, and notes which fault it found.
///
/// An error of `serde` is text; the note tells a reader which of the faults of a record the text is about. It stays
/// unset if the fault is within a request, or in the JSON.
#[derive(Debug)]
pub struct RecordSeed<'a, R: Routing> {
    allowed: RouteSet<R>,
    fault: &'a Cell<Option<AnswerFault>>,
}

impl<'a, R: Routing> RecordSeed<'a, R> {
    /// A seed that allows these routes and notes a fault here.
    pub fn new(allowed: RouteSet<R>, fault: &'a Cell<Option<AnswerFault>>) -> Self {
        Self { allowed, fault }
    }

    fn refuse<E: Error>(&self, fault: AnswerFault, reason: impl fmt::Display) -> E {
        self.fault.set(Some(fault));
        E::custom(reason)
    }

    fn allowed_fields(&self) -> String {
        self.allowed.fields().join(", ")
    }
}

impl<'de, R: Routing> DeserializeSeed<'de> for RecordSeed<'_, R> {
    type Value = R;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<R, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, R: Routing> Visitor<'de> for RecordSeed<'_, R> {
    type Value = R;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "an object with exactly one of: {}",
            self.allowed_fields()
        )
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<R, A::Error> {
        let mut seen = RouteSet::<R>::EMPTY;
        let mut set = RouteSet::<R>::EMPTY;
        let mut record = None;
        while let Some(route) = map.next_key_seed(FieldSeed(&self))? {
            if seen.contains(route) {
                let reason = format_args!("the field `{}` stands twice", route.field());
                return Err(self.refuse(AnswerFault::DuplicateKey, reason));
            }
            seen = seen.union(RouteSet::only(route));
            if let Some(read) = map.next_value_seed(RequestSeed(route))? {
                set = set.union(RouteSet::only(route));
                record = Some(read);
            }
        }
        match record {
            Some(record) if set.len() == 1 => Ok(record),
            Some(_) => {
                let reason = format_args!(
                    "{} fields are set: {}; set exactly one",
                    set.len(),
                    set.fields().join(", ")
                );
                Err(self.refuse(AnswerFault::ManyRoutes, reason))
            }
            None => {
                let reason = format_args!(
                    "no field is set; set exactly one of: {}",
                    self.allowed_fields()
                );
                Err(self.refuse(AnswerFault::NoRoute, reason))
            }
        }
    }
}

/// Reads a key into the route that it names.
struct FieldSeed<'s, 'a, R: Routing>(&'s RecordSeed<'a, R>);

impl<'de, R: Routing> DeserializeSeed<'de> for FieldSeed<'_, '_, R> {
    type Value = RouteId<R>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<RouteId<R>, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<R: Routing> Visitor<'_> for FieldSeed<'_, '_, R> {
    type Value = RouteId<R>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "the name of a field: {}",
            self.0.allowed_fields()
        )
    }

    fn visit_str<E: Error>(self, field: &str) -> Result<RouteId<R>, E> {
        let Self(record) = self;
        let allowed = record.allowed;
        match RouteId::from_field(field) {
            Some(route) if allowed.contains(route) => Ok(route),
            Some(_) => {
                let reason = format_args!(
                    "the route `{field}` is not allowed here; allowed: {}",
                    record.allowed_fields()
                );
                Err(record.refuse(AnswerFault::RouteNotAllowed, reason))
            }
            None => {
                let reason = format_args!(
                    "unknown field `{field}`; known: {}",
                    record.allowed_fields()
                );
                Err(record.refuse(AnswerFault::UnknownField, reason))
            }
        }
    }
}

/// Reads the request of one field.
struct RequestSeed<R: Routing>(RouteId<R>);

impl<'de, R: Routing> DeserializeSeed<'de> for RequestSeed<R> {
    type Value = Option<R>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<R>, D::Error> {
        R::__deserialize_field(self.0.index(), deserializer)
    }
}
