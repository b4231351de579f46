//! A record with an empty list of fields.
use interrupt_router::Routing;

#[derive(Debug, Clone, Routing)]
struct Record {}

fn main() {
    println!("{:?}", Record {}.set_routes());
}
