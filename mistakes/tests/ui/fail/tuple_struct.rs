//! A record without names of fields.
use routing_core::Routing;

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
struct Record(Option<Request>);

fn main() {
    println!("{}", Record::NAME);
}
