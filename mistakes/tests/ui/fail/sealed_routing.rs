//! A routing record written by hand.
use interrupt_router::Routing;

use std::any::{Any, TypeId};

use interrupt_router::answer::AnswerError;
use interrupt_router::schema::SchemaTable;
use interrupt_router::{RouteInfo, RouteSet, RoutingKind};
use schemars::{Schema, SchemaGenerator};
use serde::Deserializer;

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Record {
    review_request: Option<String>,
}

impl Routing for Record {
    const NAME: &'static str = "Record";
    const KIND: RoutingKind = RoutingKind::Agent;
    const ROUTES: &'static [RouteInfo] = &[];

    fn set_routes(&self) -> RouteSet<Self> {
        RouteSet::EMPTY
    }

    fn schemas() -> &'static SchemaTable<Self> {
        loop {}
    }

    fn __deserialize_field<'de, D: Deserializer<'de>>(
        _: usize,
        _: D,
    ) -> Result<Option<Self>, D::Error> {
        Ok(None)
    }

    fn __parse_narrowed(_: usize, _: &[u8]) -> Result<Self, AnswerError> {
        loop {}
    }

    fn __request_type(_: usize) -> TypeId {
        TypeId::of::<String>()
    }

    fn __from_request(_: usize, _: &dyn Any) -> Option<Self> {
        None
    }

    fn __into_request(self, _: usize) -> Option<Box<dyn Any + Send>> {
        None
    }

    fn __request_schema(_: usize, generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<String>()
    }

    fn __description() -> &'static str {
        ""
    }
}

fn main() {}
