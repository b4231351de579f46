//! A request type that cannot be read or written.
use interrupt_router::Routing;

#[derive(Debug, Clone, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
struct Record {
    review_request: Option<Request>,
    ticket_request: Option<u8>,
}

fn main() {}
