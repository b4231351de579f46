//! An enum as a record.
use routing_core::Routing;

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
enum Record {
    Review(Request),
}

fn main() {
    println!("{}", Record::NAME);
}
