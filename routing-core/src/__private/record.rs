//! The parts of a routing record's implementation that need no generated code.
//!
//! They are bound by [`Route`] alone, so that a type that is no request is reported once, at its field, and not again
//! for each use of it.

use std::any::{Any, TypeId};
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer};
use serde::ser::SerializeMap;
use serde_json::{Map, Value};

use super::message::Message;
use crate::__private::Request;
use crate::agent_type::AgentType;
use crate::answer::{AnswerError, AnswerFault};
use crate::route::{Route, RouteId};
use crate::routing::{InterruptRoutes, Routing};

/// Names a type that must be a request: a type that is none is reported at that name, with the
/// remedy, which the bound of [`Route::Request`] does not lead to.
#[derive(Debug)]
pub struct AssertRequest<T: Request>(PhantomData<T>);

/// Checks that every provider takes a property of this name.
///
/// # Panics
///
/// If one does not.
#[track_caller]
pub const fn assert_property_name(name: &str) {
    if crate::schema::is_taken_name(name) {
        return;
    }
    let message = Message::new()
        .push("not every provider takes the name `")
        .push(name)
        .push("`: give the field one of 1 to 64 ASCII letters, digits, `_`, `.` and `-` with `#[route(rename = \"...\")]`");
    panic!("{}", message.text())
}

/// Writes one field of a record, if it is set.
pub fn serialize_field<M: Route, S: SerializeMap>(
    map: &mut S,
    request: &Option<M::Request>,
) -> Result<(), S::Error> {
    match request {
        Some(request) => map.serialize_entry(M::FIELD, request),
        None => Ok(()),
    }
}

/// Reads the request of one field, `None` if the input is null.
pub fn deserialize_field<'de, M: Route, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<M::Routing>, D::Error> {
    let request = Option::<M::Request>::deserialize(deserializer)?;
    Ok(request.map(M::wrap))
}

/// The request of one field, taken out of the record.
pub fn boxed_request<M: Route>(routing: M::Routing) -> Option<Box<dyn Any + Send>> {
    match M::take(routing) {
        Some(request) => Some(Box::new(request)),
        None => None,
    }
}

/// The fault of asking for a route past the end of a record.
pub fn no_such_route<R: Routing>(index: usize) -> AnswerError {
    AnswerError::new(
        AnswerFault::NoRoute,
        "$",
        format!("`{}` has no route at place {index}", R::NAME),
    )
}

/// The type of one field's request.
pub fn request_type<M: Route>() -> TypeId {
    TypeId::of::<M::Request>()
}

/// The record with a copy of a request in one field; `None` if the request is of another type.
pub fn wrap_copy<M: Route>(request: &dyn Any) -> Option<M::Routing> {
    request.downcast_ref::<M::Request>().cloned().map(M::wrap)
}

/// The schema of one field's request.
pub fn request_schema<M: Route>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<M::Request>()
}

/// The schema of a record: an object of optional properties.
pub fn record_schema<R: Routing + JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let mut properties = Map::new();
    for (index, route) in R::ROUTES.iter().enumerate() {
        let mut property = R::__request_schema(index, generator);
        if !route.description.is_empty() {
            property.insert("description".to_owned(), route.description.into());
        }
        properties.insert(route.field.to_owned(), property.to_value());
    }
    let mut schema = json_schema!({ "type": "object" });
    if !R::__description().is_empty() {
        schema.insert("description".to_owned(), R::__description().into());
    }
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    schema
}

/// The route at the place of an agent type in a table that [`super::assert_routes`] has proved total.
pub fn route_at<R: InterruptRoutes>(routes: &[usize], agent_type: R::AgentType) -> RouteId<R> {
    RouteId::__at(routes[agent_type.index()])
}
