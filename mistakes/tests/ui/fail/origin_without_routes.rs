//! An origin in an enumeration that names no routes.
use routing_core::AgentType;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum RouteType {
    Orchestrator,
    #[agent_type(origin = Orchestrator)]
    TicketAgent,
}

fn main() {}
