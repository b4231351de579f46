//! A set of actions in which a route has none.
use interrupt_router::Routing;

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
struct Record {
    review_request: Option<Request>,
    ticket_request: Option<Request>,
}

struct Actions;

impl RecordActions<()> for Actions {
    type Output = ();
    type Error = ();

    async fn review_request(&self, _: Request, _: &()) -> Result<(), ()> {
        Ok(())
    }
}

fn main() {}
