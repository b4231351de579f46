//! An enumeration of agent types written by hand.
use interrupt_router::AgentType;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum RouteType {
    Orchestrator,
}

fn wants<A: AgentType>(_: A) {}

fn main() {
    wants(RouteType::Orchestrator);
}
