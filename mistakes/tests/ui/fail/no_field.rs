//! A record with an empty list of fields.
use routing_core::Routing;

#[derive(Debug, Clone, Routing)]
struct Record {}

fn main() {
    println!("{:?}", Record {}.set_routes());
}
