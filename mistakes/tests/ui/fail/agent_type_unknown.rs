//! A field that leads to an agent type that does not exist.
use interrupt_router::{AgentType, Routing};

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum RouteType {
    ReviewAgent,
}

#[derive(Debug, Clone, Routing)]
#[routing(agent_types = RouteType)]
struct Record {
    #[route(agent_type = ReviewAgnt)]
    review_request: Option<Request>,
}

fn main() {}
