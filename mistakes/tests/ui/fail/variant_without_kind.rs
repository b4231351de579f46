//! A variant that is no kind of agent.
use interrupt_router::{AgentType, InterruptDetails, InterruptRequest};

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
    ReviewAgent(InterruptDetails),
    Ticket(InterruptDetails),
}

fn main() {}
