//! An enum as a record.
use interrupt_router::Routing;

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
