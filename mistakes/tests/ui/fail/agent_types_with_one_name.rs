//! Two agent types with the same name.
use interrupt_router::AgentType;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum RouteType {
    Orchestrator,
    #[agent_type(rename = "ORCHESTRATOR")]
    ReviewAgent,
}

fn main() {
    println!("{}", RouteType::Orchestrator.origin_route());
}
