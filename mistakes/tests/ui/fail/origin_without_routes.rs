//! An origin in an enumeration that names no routes.
use interrupt_router::AgentType;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum RouteType {
    Orchestrator,
    #[agent_type(origin = Orchestrator)]
    TicketAgent,
}

fn main() {}
