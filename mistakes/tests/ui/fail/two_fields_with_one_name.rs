//! Two fields with the same name in JSON.
use interrupt_router::Routing;

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
struct Record {
    review_request: Option<Request>,
    #[route(rename = "reviewRequest")]
    ticket_request: Option<Request>,
    merger_request: Option<Request>,
    #[route(marker = OtherRoute)]
    merger__request: Option<Request>,
}

fn main() {}
