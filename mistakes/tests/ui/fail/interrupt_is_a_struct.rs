//! A struct as a sealed interrupt request.
use interrupt_router::{AgentType, InterruptDetails, InterruptRequest};

#[derive(Debug, Clone, InterruptRequest)]
#[interrupt(kind = AgentKind)]
struct Interrupt {
    details: InterruptDetails,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum AgentKind {
    Orchestrator,
}

fn main() {}
