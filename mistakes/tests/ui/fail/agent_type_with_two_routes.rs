//! An agent type to which two fields lead.
use interrupt_router::{AgentType, Routing};

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum RouteType {
    Orchestrator,
    ReviewAgent,
    TicketDispatch,
}

#[derive(Debug, Clone, Routing)]
#[routing(agent_types = RouteType)]
struct Record {
    #[route(agent_type = ReviewAgent)]
    review_request: Option<Request>,
    #[route(agent_type = ReviewAgent)]
    second_request: Option<Request>,
    #[route(agent_type = Orchestrator)]
    orchestrator_request: Option<Request>,
}

fn main() {}
