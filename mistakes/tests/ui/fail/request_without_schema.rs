//! A request type that cannot be put into a schema.
use interrupt_router::{Route, Routing};

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
struct Record {
    review_request: Option<Request>,
}

fn main() {
    let record = RecordReviewRequestRoute::wrap(Request {
        goal: String::new(),
    });
    println!("{:?}", record.set_routes());
}
