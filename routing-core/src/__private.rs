//! What generated code needs. Nothing here is a promise; only the derive macros may use it.

pub use schemars;
pub use serde;
pub use serde_json;

/// Seals the traits that the derive macros implement.
#[diagnostic::on_unimplemented(
    message = "the traits of `routing_core` cannot be implemented by hand for `{Self}`",
    note = "use `#[derive(AgentType)]`, `#[derive(Routing)]` or `#[derive(InterruptRequest)]`; the implementation comes with the derive"
)]
pub trait Sealed {}
