//! A record without names of fields.
use interrupt_router::Routing;

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
struct Record(Option<Request>);

fn main() {
    println!("{}", Record::NAME);
}
