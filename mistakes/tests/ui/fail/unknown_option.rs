//! Options that do not exist.
use interrupt_router::Routing;

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
#[routing(colour = "red")]
struct Record {
    #[route(priority = High)]
    review_request: Option<Request>,
}

fn main() {}
