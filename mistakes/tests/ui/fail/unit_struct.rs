//! A record without fields.
use routing_core::Routing;

#[derive(Debug, Clone, Routing)]
struct Record;

fn main() {
    println!("{}", Record::NAME);
}
