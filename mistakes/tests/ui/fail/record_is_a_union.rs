//! A union as a record.
use interrupt_router::Routing;

#[derive(Routing)]
union Record {
    review: u8,
}

fn main() {}
