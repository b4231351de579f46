//! What generated code needs. Nothing here is a promise; only the derive macros may use it.

mod agent_type;
mod coverage;
mod interrupt;
mod message;
mod record;

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::agent_type::AgentType;
use crate::route::Route;

pub use schemars;
pub use serde;
pub use serde_json;

pub use agent_type::{agent_type_schema, deserialize_agent_type, origin_route, parse_agent_type};
pub use coverage::{
    agent_type_name, assert_kind, assert_kinds, assert_origin, assert_routes, kind_position,
    origin_position, position, routes_by_agent_type,
};
pub use interrupt::{
    Variant, deserialize_interrupt, deserialize_payload, kind_at, no_such_kind, payload_conversion,
    payload_details, payload_value, serialize_interrupt,
};
pub use record::{
    AssertRequest, assert_property_name, boxed_request, deserialize_field, no_such_route,
    record_schema, request_schema, request_type, route_at, serialize_field, wrap_copy,
};

/// Seals the traits that the derive macros implement.
#[diagnostic::on_unimplemented(
    message = "the traits of `interrupt_router` cannot be implemented by hand for `{Self}`",
    note = "use `#[derive(AgentType)]`, `#[derive(Routing)]` or `#[derive(InterruptRequest)]`; the implementation comes with the derive"
)]
pub trait MadeByDerive {}

/// What a route carries: data that can be read, written, and described to a model by a JSON schema.
///
/// Implemented for every type that has the needed derives; there is nothing to write by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the request of a route: it must be read, written, and put into a JSON schema",
    label = "not a request",
    note = "add `#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]` to `{Self}`"
)]
pub trait Request:
    Serialize + DeserializeOwned + JsonSchema + Debug + Clone + Send + Sync + 'static
{
}

#[diagnostic::do_not_recommend]
impl<T> Request for T where
    T: Serialize + DeserializeOwned + JsonSchema + Debug + Clone + Send + Sync + 'static
{
}

/// A route that leads to an agent type.
#[diagnostic::on_unimplemented(
    message = "the route `{Self}` leads to no agent type",
    note = "give its field `#[route(agent_type = ...)]`"
)]
pub trait AgentRoute: Route {
    /// The enumeration of agent types.
    type AgentType: AgentType;

    /// Where the route leads.
    const AGENT_TYPE: Self::AgentType;
}
