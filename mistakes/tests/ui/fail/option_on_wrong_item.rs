//! Options of the record on a field, and of a field on the record.
use interrupt_router::Routing;

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
#[route(rename = "Name")]
struct Record {
    #[routing(rename = "review")]
    review_request: Option<Request>,
}

fn main() {}
