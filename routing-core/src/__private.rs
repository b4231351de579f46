//! What generated code needs. Nothing here is a promise; only the derive macros may use it.

mod agent_type;
mod coverage;
mod interrupt;
mod message;
mod record;

pub use schemars;
pub use serde;
pub use serde_json;

pub use agent_type::{agent_type_schema, deserialize_agent_type, parse_agent_type};
pub use coverage::{assert_kinds, assert_routes, position, position_of_name, routes_by_agent_type};
pub use interrupt::{
    deserialize_interrupt, deserialize_payload, payload_conversion, serialize_interrupt,
};
pub use record::{
    boxed_request, deserialize_field, no_such_route, record_schema, request_schema, request_type,
    serialize_field, wrap_copy,
};

/// Seals the traits that the derive macros implement.
#[diagnostic::on_unimplemented(
    message = "the traits of `routing_core` cannot be implemented by hand for `{Self}`",
    note = "use `#[derive(AgentType)]`, `#[derive(Routing)]` or `#[derive(InterruptRequest)]`; the implementation comes with the derive"
)]
pub trait Sealed {}
