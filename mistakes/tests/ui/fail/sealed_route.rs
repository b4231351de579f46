//! A marker written by hand.
use interrupt_router::{Route, Routing};

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
struct Record {
    review_request: Option<Request>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
struct OtherRoute;

impl Route for OtherRoute {
    type Routing = Record;
    type Request = Request;

    const NAME: &'static str = "OtherRoute";
    const FIELD: &'static str = "reviewRequest";
    const INDEX: usize = 0;

    fn wrap(request: Request) -> Record {
        RecordReviewRequestRoute::wrap(request)
    }

    fn take(routing: Record) -> Option<Request> {
        RecordReviewRequestRoute::take(routing)
    }
}

fn main() {}
