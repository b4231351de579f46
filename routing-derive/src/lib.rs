//! Derive macros of the interrupt router. Use them through `routing_core`, which re-exports them.
use proc_macro::TokenStream;

/// Derives `AgentType`.
#[proc_macro_derive(AgentType, attributes(agent_type))]
pub fn agent_type(_input: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Derives `Routing`.
#[proc_macro_derive(Routing, attributes(routing, route))]
pub fn routing(_input: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Derives `SealedInterrupt`.
#[proc_macro_derive(InterruptRequest, attributes(interrupt))]
pub fn interrupt_request(_input: TokenStream) -> TokenStream {
    TokenStream::new()
}
