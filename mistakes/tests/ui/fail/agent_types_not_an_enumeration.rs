//! An enumeration of agent types without the derive.
use interrupt_router::Routing;

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Copy)]
enum RouteType {
    ReviewAgent,
}

#[derive(Debug, Clone, Routing)]
#[routing(agent_types = RouteType)]
struct Record {
    #[route(agent_type = ReviewAgent)]
    review_request: Option<Request>,
}

fn main() {}
