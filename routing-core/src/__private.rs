//! What generated code needs. Nothing here is a promise; only the derive macros may use it.

mod agent_type;
mod coverage;
mod interrupt;
mod message;
mod record;

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
