//! Options with a value of the wrong form.
use interrupt_router::Routing;

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
#[routing(rename = Name)]
struct Record {
    #[route(marker = "ReviewRoute")]
    review_request: Option<Request>,
    #[route(returns = "yes")]
    caller_request: Option<Request>,
    #[route(rename = 3)]
    ticket_request: Option<Request>,
    #[route(marker = some::Route)]
    merger_request: Option<Request>,
}

fn main() {}
