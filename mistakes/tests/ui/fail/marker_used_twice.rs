//! A marker that stands for two fields.
use interrupt_router::{Route, Routing};

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
struct Record {
    #[route(marker = ReviewRoute)]
    review_request: Option<Request>,
    #[route(marker = ReviewRoute)]
    ticket_request: Option<Request>,
}

fn main() {
    println!("{:?}", ReviewRoute::id());
}
