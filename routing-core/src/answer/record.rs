//! Reading a routing record: an object with exactly one of the allowed routes.

use std::cell::Cell;

use serde::de::{Deserialize, Deserializer, Error};

use super::read_error::{Fields, ReadError, doubled};
use super::reader::{Reader, array_for_object, misplaced};
use super::tree::{Tree, Whole};
use super::{AnswerError, AnswerFault};
use crate::route::{Route, RouteId};
use crate::route_set::RouteSet;
use crate::routing::Routing;

/// The one route that is set, with its request, and whether the record has come to its end. A field that is null is not
/// set.
fn one_set<R: Routing>(
    tree: Tree<'_>,
    allowed: RouteSet<R>,
) -> Result<(RouteId<R>, Tree<'_>, Whole), ReadError> {
    let fields = allowed.fields();
    let (entries, whole) = match tree {
        Tree::Object(entries, whole) => (entries, whole),
        Tree::List(..) => return Err(array_for_object(&fields)),
        other @ (Tree::Unfinished | Tree::Null | Tree::Plain(_)) => {
            let expected = format!("an object with exactly one of: {}", fields.join(", "));
            return Err(misplaced(&other, &expected));
        }
    };
    let (mut seen, mut set) = (RouteSet::<R>::EMPTY, RouteSet::<R>::EMPTY);
    let mut found = None;
    let mut has_come = whole;
    for (field, value) in entries {
        let refused = |fault, reason: String| Err(ReadError::new(fault, reason).below_key(&field));
        let Some(route) = RouteId::<R>::from_field(&field) else {
            let reason = format!("unknown field `{field}`; {}", Fields(&fields));
            return refused(AnswerFault::UnknownField, reason);
        };
        if !allowed.contains(route) {
            let allowed = fields.join(", ");
            let reason = format!("the route `{field}` is not allowed here; allowed: {allowed}");
            return refused(AnswerFault::RouteNotAllowed, reason);
        }
        if seen.contains(route) {
            return Err(doubled(&field));
        }
        seen = seen.union(RouteSet::only(route));
        if value.is_set() {
            set = set.union(RouteSet::only(route));
            found = Some((route, value));
        } else {
            has_come &= matches!(value, Tree::Null);
        }
    }
    match found {
        Some((route, request)) if set.len() == 1 => Ok((route, request, has_come)),
        Some(_) => {
            let reason = format!(
                "{} fields are set: {}; set exactly one",
                set.len(),
                set.fields().join(", ")
            );
            Err(ReadError::new(AnswerFault::ManyRoutes, reason))
        }
        None if has_come => {
            let reason = match fields.as_slice() {
                [only] => format!("no field is set; `{only}` must be"),
                _ => format!("no field is set; set exactly one of: {}", fields.join(", ")),
            };
            Err(ReadError::new(AnswerFault::NoRoute, reason))
        }
        None => Err(ReadError::unfinished()),
    }
}

/// The request of the route that is set, read by `read`, which gets `None` where it is null.
fn read_set<'t, R: Routing, T>(
    tree: Tree<'t>,
    allowed: RouteSet<R>,
    is_buffered: &Cell<bool>,
    read: impl FnOnce(RouteId<R>, Reader<'t, '_>) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    let (route, request, has_come) = one_set(tree, allowed)?;
    let value = read(route, Reader::new(request, is_buffered))
        .map_err(|error| error.below_key(route.field()))?;
    if has_come {
        Ok(value)
    } else {
        Err(ReadError::unfinished())
    }
}

/// Reads the request of one route, the only one that may be set.
pub(super) fn request<M: Route>(
    tree: Tree<'_>,
    is_buffered: &Cell<bool>,
) -> Result<M::Request, ReadError> {
    read_set(tree, RouteSet::of::<M>(), is_buffered, |_route, reader| {
        M::Request::deserialize(reader)
    })
}

/// Reads a record in which any one of these routes may be set.
pub(super) fn record<R: Routing>(
    tree: Tree<'_>,
    allowed: RouteSet<R>,
    is_buffered: &Cell<bool>,
) -> Result<R, ReadError> {
    read_set(tree, allowed, is_buffered, |route, reader| {
        let read = R::__deserialize_field(route.index(), reader)?;
        read.ok_or_else(|| ReadError::new(AnswerFault::NoRoute, "the request is null"))
    })
}

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
    let tree = Tree::deserialize(deserializer)?;
    record(tree, allowed, &Cell::new(false)).map_err(told)
}

/// Reads the request of one route from an object that has it as its only property.
pub(crate) fn deserialize_request<'de, M: Route, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<M::Request, D::Error> {
    let tree = Tree::deserialize(deserializer)?;
    request::<M>(tree, &Cell::new(false)).map_err(told)
}

fn told<E: Error>(error: ReadError) -> E {
    E::custom(AnswerError::from(error))
}
