//! Kinds of agents whose interrupts have no variant: all of them are named.
use interrupt_router::{AgentType, InterruptDetails, InterruptRequest, SealedInterrupt};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum AgentKind {
    Orchestrator,
    ReviewAgent,
    TicketAgent,
}

#[derive(Debug, Clone, InterruptRequest)]
#[interrupt(kind = AgentKind)]
enum Interrupt {
    Orchestrator(InterruptDetails),
}

fn main() {
    let interrupt: Interrupt = serde_json::from_str("{}").unwrap();
    println!("{}", interrupt.kind());
}
