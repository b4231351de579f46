//! Agent types to which no field leads: all of them are named.
use interrupt_router::{AgentType, InterruptRoutes, Routing};

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
}

fn main() {
    println!("{:?}", Record::route_to(RouteType::Orchestrator));
}
