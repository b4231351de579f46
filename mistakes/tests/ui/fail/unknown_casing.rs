//! A casing that does not exist.
use interrupt_router::Routing;

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
#[routing(rename_all = "camel_case")]
struct Record {
    review_request: Option<Request>,
}

fn main() {}
