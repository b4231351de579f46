//! A record without fields.
use interrupt_router::Routing;

#[derive(Debug, Clone, Routing)]
struct Record;

fn main() {
    println!("{}", Record::NAME);
}
