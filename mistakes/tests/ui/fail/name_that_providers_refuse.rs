//! Names of fields that not every provider takes.
use interrupt_router::Routing;

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
struct Record {
    #[route(rename = "review request")]
    review_request: Option<Request>,
    größe: Option<Request>,
}

fn main() {}
