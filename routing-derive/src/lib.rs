//! Derive macros of the interrupt router. Use them through `interrupt_router`, which re-exports and
//! documents them.
//!
//! Each derive is a pipeline with one file per stage: `model` is the input, `check` decides what it means or what is
//! wrong with it, `expand` writes the implementation, and `fallback` writes the errors with a stub, so that one mistake
//! is reported once.

mod agent_type;
mod attr;
mod casing;
mod docs;
mod errors;
mod interrupt_request;
mod nearest;
mod renamed;
mod routing;
mod type_name;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// The macro itself is in `routing-derive`; only `interrupt-router` is meant to depend on it.
#[proc_macro_derive(AgentType, attributes(agent_type, serde, schemars))]
pub fn agent_type(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    renamed::renamed(agent_type::derive(&input), &input.attrs, "agent_type").into()
}

/// The macro itself is in `routing-derive`; only `interrupt-router` is meant to depend on it.
#[proc_macro_derive(Routing, attributes(routing, route, serde, schemars))]
pub fn routing(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    renamed::renamed(routing::derive(&input), &input.attrs, "routing").into()
}

/// The macro itself is in `routing-derive`; only `interrupt-router` is meant to depend on it.
#[proc_macro_derive(InterruptRequest, attributes(interrupt, serde, schemars))]
pub fn interrupt_request(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    renamed::renamed(interrupt_request::derive(&input), &input.attrs, "interrupt").into()
}
