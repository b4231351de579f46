//! A missing agent type is reported beside other mistakes of the record.
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
    review_request: Request,
    #[route(agent_type = TicketDispatch)]
    ticket_request: Option<Request>,
}

fn main() {}
