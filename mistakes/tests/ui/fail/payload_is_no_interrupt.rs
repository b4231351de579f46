//! A payload that is no interrupt of an agent.
use interrupt_router::{AgentType, InterruptRequest};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum AgentKind {
    Orchestrator,
}

#[derive(Debug, Clone, InterruptRequest)]
#[interrupt(kind = AgentKind)]
enum Interrupt {
    Orchestrator(String),
}

fn main() {}
