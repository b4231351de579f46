//! A union as a record.
use routing_core::Routing;

#[derive(Routing)]
union Record {
    review: u8,
}

fn main() {}
