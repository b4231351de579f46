//! Routes that are no enumeration of agent types.
use interrupt_router::AgentType;

struct RouteType;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
#[agent_type(route = RouteType)]
enum AgentKind {
    Orchestrator,
}

fn main() {}
