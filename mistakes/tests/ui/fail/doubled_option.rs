//! Options that are given twice.
use interrupt_router::Routing;

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
#[routing(rename = "One", rename = "Two")]
struct Record {
    #[route(returns)]
    #[route(returns)]
    review_request: Option<Request>,
}

fn main() {}
