//! An enumeration of agent types with parameters.
use interrupt_router::AgentType;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum RouteType<const N: usize> {
    Orchestrator,
}

fn main() {}
