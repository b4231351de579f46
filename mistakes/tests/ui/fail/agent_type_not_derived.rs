//! An enumeration of agent types written by hand.
use routing_core::AgentType;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum RouteType {
    Orchestrator,
}

fn wants<A: AgentType>(_: A) {}

fn main() {
    wants(RouteType::Orchestrator);
}
