//! An agent type that carries data.
use interrupt_router::AgentType;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum RouteType {
    Orchestrator,
    ReviewAgent(u8),
}

fn main() {}
