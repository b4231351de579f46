//! A variant alone, on a record that names no enumeration.
use interrupt_router::Routing;

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
struct Record {
    #[route(agent_type = ReviewAgent)]
    review_request: Option<Request>,
}

fn main() {}
