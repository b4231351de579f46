//! A sealed interrupt request with a misspelt option.
use interrupt_router::{AgentType, InterruptDetails, InterruptRequest};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum AgentKind {
    Orchestrator,
}

#[derive(Debug, Clone, InterruptRequest)]
#[interrupt(kinds = AgentKind)]
enum Interrupt {
    #[interrupt(kind = Orchestrator)]
    Orchestrator(InterruptDetails),
}

fn main() {}
