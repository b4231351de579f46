//! Options of an agent type that do not exist.
use interrupt_router::AgentType;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
#[agent_type(routes = RouteType)]
enum RouteType {
    #[agent_type(renam = "X")]
    Orchestrator,
}

fn main() {}
