//! A field that is not optional.
use interrupt_router::{Route, Routing};

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
struct Record {
    review_request: Option<Request>,
    ticket_request: Request,
}

fn main() {
    let record = RecordReviewRequestRoute::wrap(Request {
        goal: String::new(),
    });
    println!(
        "{:?} {:?}",
        record.set_routes(),
        RecordTicketRequestRoute::id()
    );
}
