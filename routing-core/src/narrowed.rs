//! An answer that can have one route and no other.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::answer::deserialize_request;
use crate::route::Route;
use crate::routing::Routing;

/// The request of the route `M`, as it is in an answer: an object with that one property.
///
/// In JSON the property is required and not null, and nothing else may be beside it. Models are shown
/// [`Route::schema`]; [`read_narrowed`](crate::answer::read_narrowed) reads what they answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Narrowed<M: Route>(M::Request);

impl<M: Route> Narrowed<M> {
    /// Wraps a request.
    pub fn new(request: M::Request) -> Self {
        Self(request)
    }

    /// The request.
    pub fn into_request(self) -> M::Request {
        self.0
    }

    /// The record with this request in its field, and nothing else set.
    pub fn into_routing(self) -> M::Routing {
        M::wrap(self.0)
    }
}

impl<M: Route> Serialize for Narrowed<M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(M::FIELD, &self.0)?;
        map.end()
    }
}

impl<'de, M: Route> Deserialize<'de> for Narrowed<M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_request::<M, D>(deserializer).map(Self)
    }
}

impl<M: Route> JsonSchema for Narrowed<M> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}_{}", M::Routing::NAME, M::FIELD).into()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("{}::{}", M::Routing::schema_id(), M::FIELD).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let request = M::Routing::__request_schema(M::INDEX, generator);
        let property = crate::schema::route_property(M::id(), request).to_value();
        schemars::json_schema!({
            "type": "object",
            "properties": { (M::FIELD): property },
            "required": [M::FIELD],
            "additionalProperties": false,
        })
    }
}
