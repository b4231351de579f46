//! A kind of agent whose interrupts have no route to go back to.
use interrupt_router::AgentType;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum RouteType {
    Orchestrator,
    ReviewAgent,
    TicketDispatch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
#[agent_type(route = RouteType)]
enum AgentKind {
    Orchestrator,
    TicketAgent,
}

fn main() {}
