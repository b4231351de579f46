//! Variants that do not carry exactly one payload.
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
    Orchestrator,
    ReviewAgent(InterruptDetails, u8),
    TicketAgent { details: InterruptDetails },
}

fn main() {
    println!("{}", Interrupt::Orchestrator.kind());
}
