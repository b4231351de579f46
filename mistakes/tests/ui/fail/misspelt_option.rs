//! Options that exist under another spelling.
use interrupt_router::Routing;

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
#[routing(rename_al = "camelCase")]
struct Record {
    #[route(return)]
    caller_request: Option<Request>,
    #[route(markr = ReviewRoute)]
    review_request: Option<Request>,
}

fn main() {}
